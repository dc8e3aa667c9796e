/** Tests `cria compare` on the real command line. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { chatServer, endStream, sendDelta, startStream } from '../support/chat-server.ts'
import type { ChatServer } from '../support/chat-server.ts'
import { newPlace } from './command-line.ts'
import type { Place, RunOptions } from './command-line.ts'

let place: Place
let server: ChatServer
let env: NonNullable<RunOptions['env']>
beforeEach(async () => {
  place = newPlace()
  server = await chatServer(async (response) => {
    const { model } = JSON.parse(server.requests.at(-1) ?? '{}') as { model: string }
    startStream(response)
    sendDelta(response, `I am ${model === 'one' ? 'brief' : 'long\u001b[31m'}.`)
    endStream(response)
  })
  env = { OPENAI_COMPATIBLE_BASE_URL: server.url, OPENAI_COMPATIBLE_API_KEY: 'k' }
})
afterEach(async () => {
  place[Symbol.dispose]()
  await server[Symbol.asyncDispose]()
})

const MODELS = ['-m', 'openai-compatible/one', '-m', 'openai-compatible/two']

test('ENG-FEED-001 cria compare asks two models and records the choice, which the journal counts', async () => {
  const { code, stdout, stderr } = await place.run(['compare', 'Who are you?', ...MODELS, '--json'], {
    env,
    input: 'nonsense\na\nIt is right.\n',
  })
  expect([code, stderr]).toEqual([0, ''])
  const made = JSON.parse(stdout) as {
    answers: { model: string; answer: string; turnId: string }[]
    shownFirst: string
    choice: string
  }
  expect(made).toMatchObject({ choice: 'first', comment: 'It is right.', shownFirst: made.answers[0]?.model })
  expect(made.answers.map(({ model }) => model).toSorted()).toEqual(['openai-compatible/one', 'openai-compatible/two'])

  const pairs = await place.run(['logs', 'export', '--preferences'], { env })
  expect(JSON.parse(pairs.stdout)).toMatchObject({
    prompt: [{ role: 'user', content: 'Who are you?' }],
    chosen: [{ role: 'assistant', content: made.answers[0]?.answer }],
    chosenTurnId: made.answers[0]?.turnId,
    comment: 'It is right.',
  })
  const stats = await place.run(['logs', 'stats', '--preferences'], { env })
  expect(stats.stdout).toMatch(/openai-compatible\/\w+\s+–\s+1\s+0\s+0\s+0\s+100 %\s+21 % to 100 %/)
  expect(stats.stderr).toContain('shown first and chosen: 1 of 1')
})

test('ENG-FEED-001 answers are shown without names and escape codes, and no choice records nothing', async () => {
  const { code, stdout } = await place.run(['compare', 'Who are you?', ...MODELS], {
    env,
    inTerminal: true,
    columns: 100,
    input: 'x\n',
  })
  expect(code).toBe(0)
  const answers = stdout.slice(0, stdout.indexOf('A was'))
  expect(answers).toContain('Answer A')
  expect(answers).not.toContain('openai-compatible')
  expect(answers).not.toContain('\u001b[31m')
  const stats = await place.run(['logs', 'stats', '--preferences', '--json'], { env })
  expect(JSON.parse(stats.stdout)).toMatchObject({ choices: 0 })
})

test('ENG-FEED-001 --choice works in scripts, one model may answer twice, and three models are refused', async () => {
  const two = await place.run(['compare', 'Who?', '-m', 'openai-compatible/one', '--choice', 'tie', '--json'], { env })
  expect(JSON.parse(two.stdout)).toMatchObject({ choice: 'tie', preferred: null, rejected: null })
  expect(server.requests).toHaveLength(2)
  expect((await place.run(['compare', 'Who?', ...MODELS, '-m', 'openai-compatible/three'], { env })).code).toBe(2)
})
