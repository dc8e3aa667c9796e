/** Tests sessions over several processes in a real terminal: work is stopped or killed in one and continued in the next. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentServer, messagesIn } from '../support/agent-server.ts'
import type { SentMessage } from '../support/agent-server.ts'
import { chatServer, sendDelta, startStream } from '../support/chat-server.ts'
import { BROKEN, BROKEN_PROJECT, RUN_TEST } from '../support/broken-project.ts'
import type { ChatServer } from '../support/chat-server.ts'
import { KEY } from '../support/chat-terminal.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { isAlive, until } from '../support/processes.ts'
import { newPlace } from './command-line.ts'
import type { Ended, Place, Running } from './command-line.ts'

/** Says that it has begun, and then takes until it is killed. The second time it ends at once. */
const DEPLOY = `import { appendFileSync, readFileSync } from 'node:fs'
appendFileSync('deployed', process.pid + '\\n')
if (readFileSync('deployed', 'utf8').split('\\n').length === 2) setInterval(() => {}, 1000)
`
const RUN_DEPLOY = { name: 'run_command', input: { command: 'node deploy.mjs' } }
const ALLOW_DEPLOY = '--allow=run_command(node deploy.mjs)'

let place: Place
let server: ChatServer | undefined
beforeEach(() => {
  place = newPlace()
})
afterEach(async () => {
  // What a killed process had started outlives it.
  for (const pid of deployments()) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  await server?.[Symbol.asyncDispose]()
  server = undefined
  place[Symbol.dispose]()
})

const deployments = (): number[] =>
  existsSync(join(place.folder, 'deployed')) ? place.read('deployed').trimEnd().split('\n').map(Number) : []
const sent = (request = -1): readonly SentMessage[] => messagesIn(server, request)
const environment = (): Record<string, string> => ({
  OPENAI_COMPATIBLE_BASE_URL: server?.url ?? '',
  OPENAI_COMPATIBLE_API_KEY: 'k',
  TERM: 'xterm-256color',
})

async function chat(...words: readonly string[]): Promise<Running> {
  const running = place.start(['chat', '-m', 'openai-compatible/test', '--sandbox=off', ...words], {
    inTerminal: true,
    isTyped: true,
    env: environment(),
  })
  if (!words.includes('--resume')) await running.shows('openai-compatible/test')
  return running
}

function type(running: Running, keys: string): void {
  running.process.stdin.write(keys)
}

async function leave(running: Running): Promise<Ended> {
  type(running, KEY.ctrlD)
  return running.ended
}

async function turns(): Promise<readonly { status: string; question: string; sessionId: string }[]> {
  const { stdout } = await place.run(['logs', 'list', '--json'])
  return (JSON.parse(stdout) as { turns: { status: string; question: string; sessionId: string }[] }).turns
}

describe.runIf(hasTerminal)('a session in a real terminal', () => {
  test('ENG-TOOL-001 a task is stopped midway and continued in another process', async () => {
    place.write(BROKEN_PROJECT)
    server = await agentServer((messages) => {
      const goesOn = messages.some(({ role, content }) => role === 'user' && content?.includes('Go on') === true)
      const done = messages.filter(({ role }) => role === 'tool').length
      const story = goesOn
        ? [
            { calls: [{ name: 'read_file', input: { path: 'add.mjs' } }] },
            { calls: [{ name: 'edit_file', input: { path: 'add.mjs', old_string: 'a - b', new_string: 'a + b' } }] },
            { calls: [RUN_TEST] },
            { text: 'It subtracted; now the test passes.' },
          ]
        : [{ text: 'I run it first.', calls: [RUN_TEST] }]
      return story[goesOn ? done - 1 : done] ?? new Promise<never>(() => {})
    })
    const first = await chat()
    type(first, `Fix the failing test${KEY.enter}`)
    await first.shows('May run_command do this?')
    expect(server.requests).toHaveLength(1)
    type(first, 'y')
    await until(() => server?.requests.length === 2)
    type(first, KEY.escape)
    await first.shows('stopped; recorded as')
    const { code, stdout } = await leave(first)
    expect(code).toBe(0)
    const [, sessionId = ''] = /To continue: cria chat --resume (ses_\w+)/.exec(stdout) ?? []

    const second = await chat('--resume', sessionId)
    await second.shows(`continuing with ${sessionId}`)
    type(second, `Go on${KEY.enter}`)
    await second.shows('May edit_file do this?')
    expect(place.read('add.mjs')).toBe(BROKEN)
    type(second, 'y')
    // What was allowed once in another process is asked about again.
    await second.shows('May run_command do this?')
    // The same key again at once would count as held down, and answer nothing.
    type(second, 'a')
    await second.shows('now the test passes')
    await second.shows('tokens')
    expect(place.read('add.mjs')).toContain('a + b')
    const left = await leave(second)
    expect(left.code).toBe(0)
    // The process was stopped, not killed: the outcome of every call is known.
    expect(left.stdout).not.toContain('Nobody knows')
    expect(left.stdout).toContain('Fix the failing test')
    expect(left.stdout).toContain('+export const add = (a, b) => a + b')
    // The model has received the earlier results.
    const received = sent().filter(({ role }) => role === 'tool')
    expect(received.map(({ content }) => content?.split('\n')[0])).toEqual([
      '2 + 2 is not 4',
      BROKEN.trimEnd(),
      'Changed add.mjs: 1 line added, 1 removed.',
      'passed',
    ])
    expect((await turns()).map(({ status, question }) => [status, question])).toEqual([
      ['done', 'Go on'],
      ['cancelled', 'Fix the failing test'],
    ])
  })

  test('ENG-ERR-001 the next process shows the partial answer that Esc stopped', async () => {
    let asked = 0
    server = await chatServer((response) => {
      startStream(response)
      sendDelta(response, asked++ === 0 ? 'The first half of the answer, ' : 'and the second.')
      if (asked > 1) response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    })
    const first = await chat()
    type(first, `Tell me all${KEY.enter}`)
    await first.shows('The first half of the answer,')
    type(first, KEY.escape)
    await first.shows('stopped; recorded as')
    expect((await leave(first)).code).toBe(0)
    await until(() => server?.aborted() === 1)

    const second = await chat('--resume')
    await second.shows('Which session?')
    type(second, KEY.enter)
    await second.shows('continuing with')
    type(second, `And then?${KEY.enter}`)
    await second.shows('and the second.')
    await leave(second)
    const said = sent().map(({ role, content }) => `${role}: ${String(content)}`)
    expect(said.find((line) => line.startsWith('assistant'))).toContain('The first half of the answer,')
    expect(said.at(-1)).toContain('And then?')
  })

  test('after a kill during a command, the unknown effect is reported first, and the command is run again only with consent', async () => {
    place.write({ 'deploy.mjs': DEPLOY })
    server = await agentServer((messages) => {
      const done = messages.slice(messages.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'tool')
      return done.length === 0 ? { calls: [RUN_DEPLOY] } : { text: `It said ${done[0]?.content ?? ''}` }
    })
    // Also a call that a rule allows without asking.
    const first = await chat(ALLOW_DEPLOY)
    type(first, `Deploy it${KEY.enter}`)
    await until(() => deployments().length === 1)
    process.kill(criaAbove(deployments()[0] ?? 0), 'SIGKILL')
    await first.ended

    const second = await chat('--resume', ALLOW_DEPLOY)
    await second.shows('Deploy it')
    type(second, KEY.enter)
    await second.shows('continuing with ses_')
    // Nothing has been asked of the model, and nothing has been run.
    expect([server.requests.length, deployments().length]).toEqual([1, 1])
    type(second, `Did it work?${KEY.enter}`)
    await second.shows('May run_command do this?')
    await second.shows('The same call was interrupted before')
    type(second, 'n')
    await second.shows('Why not?')
    type(second, `Look at the server first${KEY.enter}`)
    await second.shows('It said Permission denied')
    await second.shows('tokens')
    const { stdout } = await leave(second)
    const places = [
      'The effects of these calls are unknown',
      'run_command node deploy.mjs',
      'continuing with',
      'Did it work?',
    ].map((text) => stdout.indexOf(text))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(deployments()).toHaveLength(1)
    expect(sent().at(-1)?.content).toContain('Look at the server first')
    const received = sent(1).map(({ content }) => content)
    expect(received.join('\n')).toContain('effects are unknown')

    // A no settles nothing: it is said and asked again, until it was run.
    const third = await chat('--resume', ALLOW_DEPLOY)
    await third.shows('Deploy it')
    type(third, KEY.enter)
    await third.shows('The effects of these calls are unknown')
    await third.shows('continuing with ses_')
    type(third, `Deploy it again${KEY.enter}`)
    await third.shows('May run_command do this?')
    type(third, 'y')
    await third.shows('It said (no output')
    await third.shows('tokens')
    await leave(third)
    expect(deployments()).toHaveLength(2)

    const fourth = await chat('--resume', ALLOW_DEPLOY)
    await fourth.shows('Deploy it')
    type(fourth, KEY.enter)
    await fourth.shows('continuing with ses_')
    expect((await leave(fourth)).stdout).not.toContain('Nobody knows')
  })

  test('--resume lists the sessions, newest first, and continues the chosen one', async () => {
    server = await agentServer((messages) => ({ text: `Heard: ${String(messages.at(-1)?.content)}` }))
    for (const question of ['A question about apples', 'A question about pears', 'A question about plums']) {
      const asked = await chat()
      type(asked, `${question}${KEY.enter}`)
      await asked.shows(`Heard: ${question}`)
      await asked.shows('tokens')
      await leave(asked)
    }
    const oldest = (await turns()).at(-1)

    const chosen = await chat('--resume')
    await chosen.shows('about apples')
    type(chosen, `${KEY.down}${KEY.down}${KEY.enter}`)
    await chosen.shows(`continuing with ${oldest?.sessionId ?? 'none'}`)
    // The chat has a screen of its own, which takes the keyboard from the list.
    await chosen.shows('openai-compatible/test')
    type(chosen, `More of them${KEY.enter}`)
    await chosen.shows('Heard: More of them')
    const { stdout } = await leave(chosen)
    const list = stdout.slice(stdout.indexOf('Which session?'))
    const places = ['plums', 'pears', 'apples'].map((fruit) => list.indexOf(fruit))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(sent().map(({ content }) => content)).toEqual(expect.arrayContaining([expect.stringContaining('about apples')]))
    expect(JSON.stringify(sent())).not.toMatch(/pears|plums/)

    // Esc chooses none, and the chat begins anew.
    const none = await chat('--resume')
    await none.shows('about apples')
    type(none, KEY.escape)
    await none.shows('openai-compatible/test')
    type(none, `Something else${KEY.enter}`)
    await none.shows('Heard: Something else')
    await leave(none)
    expect(JSON.stringify(sent())).not.toContain('apples')
    expect(new Set((await turns()).map(({ sessionId }) => sessionId)).size).toBe(4)
  })

  test('without any session --resume begins one with a note; without a terminal it requires an id', async () => {
    server = await agentServer([{ text: 'Hello.' }])
    const running = await chat('--resume')
    await running.shows('there is no session to continue yet')
    // The chat has a screen of its own, which takes the keyboard from the question.
    await running.shows('openai-compatible/test')
    type(running, `Hi${KEY.enter}`)
    await running.shows('Hello.')
    expect((await leave(running)).code).toBe(0)
    const piped = await place.run(['chat', '--resume', '-m', 'openai-compatible/test'], { env: environment(), input: 'Hi\n' })
    expect(piped.code).toBe(2)
    expect(piped.stderr).toContain('--resume')
  })
})

test('cria run after a kill reports unknown effects, and refuses the call even if rules allow it', async () => {
  place.write({ 'deploy.mjs': DEPLOY })
  server = await agentServer((messages) => (messages.at(-1)?.role === 'user' ? { calls: [RUN_DEPLOY] } : { text: 'I am done.' }))
  const words = ['--session', 'ses_killed', '-m', 'openai-compatible/test', ALLOW_DEPLOY]
  const first = place.start(['run', 'Deploy it', '--sandbox=off', ...words], { env: environment() })
  await until(() => deployments().length === 1)
  first.process.kill('SIGKILL')
  await first.ended

  // A program gets the notice too, as long as no question has been answered.
  const nowhere = { ...environment(), OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' }
  const unanswered = await place.run(['run', 'Go on', '--json', ...words], { env: nowhere })
  expect(unanswered.code).toBe(3)
  expect(JSON.parse(unanswered.stdout)).toMatchObject({
    notices: [{ code: 'effects_unknown', details: { calls: [{ name: 'run_command' }] } }],
    error: { code: 'network' },
  })

  const { code, stdout, stderr } = await place.run(['run', 'Go on', ...words], { env: environment() })
  expect({ code, stdout }).toEqual({ code: 4, stdout: 'I am done.\n' })
  expect(stderr).toContain('Whether it had its effects is unknown')
  expect(deployments()).toHaveLength(1)
  // The rule exists already; only a person to ask is missing.
  expect(stderr).not.toContain('--allow')
  expect(stderr).toContain('cria chat --resume ses_killed')
})

/** The command line that started a process. */
function criaAbove(pid: number): number {
  let at = pid
  while (at > 1 && !readFileSync(`/proc/${at}/cmdline`, 'utf8').includes('main.ts')) {
    at = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${at}/status`, 'utf8'))?.[1] ?? 0)
  }
  expect(at).toBeGreaterThan(1)
  return at
}
