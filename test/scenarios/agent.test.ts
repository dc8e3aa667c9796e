/** Tests the tool `agent` on the real command line: a task within a task. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentServer, messagesIn } from '../support/agent-server.ts'
import type { ChatServer } from '../support/chat-server.ts'
import { newPlace } from './command-line.ts'
import type { Ended, Place } from './command-line.ts'

let place: Place
let server: ChatServer | undefined
beforeEach(() => {
  place = newPlace()
  place.write({ 'a.txt': 'red\n' })
})
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
  place[Symbol.dispose]()
})

async function run(script: Parameters<typeof agentServer>[0], ...words: readonly string[]): Promise<Ended> {
  server = await agentServer(script)
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.url, OPENAI_COMPATIBLE_API_KEY: 'k' }
  return place.run(['run', 'What is in the files?', '-m', 'openai-compatible/test', ...words], { env })
}

const TASK = { calls: [{ name: 'agent', input: { task: 'Read a.txt and say its colour.' } }] }
const LOOK = { calls: [{ name: 'read_file', input: { path: 'a.txt' } }] }

test('ENG-TOOL-004 the agent uses the tools of the task, shows its work, and is recorded below the task', async () => {
  const { code, stdout, stderr } = await run([TASK, LOOK, { text: 'It is red.' }, { text: 'Red.' }])
  expect([code, stdout]).toEqual([0, 'Red.\n'])
  expect(stderr).toMatch(/^> agent\n {2}> read_file a\.txt$/m)
  const asked = messagesIn(server, 1)
  expect(asked.at(-1)?.content).toBe('Read a.txt and say its colour.')
  const tools = (JSON.parse(server?.requests[1] ?? '{}') as { tools: { function: { name: string } }[] }).tools
  expect(tools.map((tool) => tool.function.name)).not.toContain('agent')

  const list = JSON.parse((await place.run(['logs', 'list', '--json'])).stdout) as {
    turns: { turnId: string; question: string }[]
  }
  const outer = list.turns.find(({ question }) => question === 'What is in the files?')?.turnId ?? ''
  // The turn of the agent is newer, but `last` is the turn of the user.
  expect(list.turns[0]?.turnId).not.toBe(outer)
  expect(JSON.parse((await place.run(['logs', 'show', 'last', '--json'])).stdout)).toMatchObject({ turn: { turnId: outer } })
  expect((await place.run(['logs', 'replay', 'last'])).stdout).toBe('Red.\n')
  expect((await place.run(['logs', 'rate', 'last', 'up'])).stderr).toContain(outer)
  const shown = await place.run(['logs', 'show', outer])
  expect(shown.stdout).toMatch(/Made by its tools \(1 turn\)\n *turn_\w+ +call_0_0 +done .*Read a\.txt and say its colour\./)
})

test('ENG-TOOL-004 the agent is bound by the rules of the task, and can be switched off and changed', async () => {
  const change = { calls: [{ name: 'write_file', input: { path: 'b.txt', content: 'x' } }] }
  const refused = await run([TASK, change, { text: 'It may not.' }, { text: 'No.' }], '--json')
  expect(refused.code).toBe(4)
  expect(JSON.parse(refused.stdout)).toMatchObject({
    answer: 'No.',
    toolCalls: [{ name: 'agent' }, { name: 'write_file', isError: true }],
  })

  place.configure({ agent: { tools: ['list_*'], maxSteps: 1 } })
  await server?.[Symbol.asyncDispose]()
  await run([TASK, { calls: [{ name: 'list_files', input: {} }] }, { text: 'Enough.' }])
  const tools = (JSON.parse(server?.requests[1] ?? '{}') as { tools: { function: { name: string } }[] }).tools
  expect(tools.map((tool) => tool.function.name)).toEqual(['list_files'])

  place.configure({ agent: { disabled: true } })
  await server?.[Symbol.asyncDispose]()
  await run([{ text: 'None.' }])
  expect(server?.requests[0]).not.toContain('"agent"')
})
