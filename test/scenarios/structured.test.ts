/** Tests JSON answers with a schema on the command line. */

import { describe, expect, test } from 'vitest'
import { answer, chatServer } from '../support/chat-server.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { eachScene } from './command-line.ts'
import type { Ended } from './command-line.ts'

const scene = eachScene()

async function ask(answers: readonly string[], words: readonly string[], input?: string): Promise<Ended> {
  let at = 0
  scene.server = await chatServer((response, request) => answer(answers[at++] ?? answers.at(-1) ?? '')(response, request))
  return scene.place.run(['ask', 'Which lamp?', '-m', 'openai-compatible/test', ...words], {
    env: { OPENAI_COMPATIBLE_BASE_URL: scene.server.url },
    ...(input === undefined ? {} : { input }),
  })
}

test('the printed answer fits the schema, and an invalid answer is requested again', async () => {
  const answers = ['{"name":"Ada"}', '```json\n{"name":"Ada","age":36}\n```']
  const { code, stdout, stderr } = await ask(answers, ['--schema', 'name, age int'])
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '{"name":"Ada","age":36}\n', stderr: '' })
  expect(scene.server?.requests).toHaveLength(2)
  expect(scene.server?.requests[1]).toContain('does not fit the schema')
})

test('--multi prints a list, --json the whole answer, and the schema may be in a file', async () => {
  scene.place.write({
    'person.json': JSON.stringify({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
  })
  const answers = ['{"items":[{"name":"Ada"},{"name":"Grace"}]}']
  const many = await ask(answers, ['--schema', 'person.json', '--multi'], 'Ada and Grace wrote it.')
  expect(JSON.parse(many.stdout)).toEqual([{ name: 'Ada' }, { name: 'Grace' }])
  expect(scene.server?.requests[0]).toContain('Ada and Grace wrote it.')
  await scene.server?.[Symbol.asyncDispose]()
  const whole = await ask(answers, ['--schema', 'person.json', '--multi', '--json'])
  expect(JSON.parse(whole.stdout)).toMatchObject({
    object: [{ name: 'Ada' }, { name: 'Grace' }],
    attempts: 1,
    usage: { inputTokens: 12 },
    turnId: expect.stringMatching(/^turn_/) as string,
  })
})

test('an answer that never fits ends with 1, without output', async () => {
  const { code, stdout, stderr } = await ask(['I do not know.'], ['--schema', 'name, age int'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('None of 3 answers fits the schema')
})

test('passages of documents supply data for the object', async () => {
  scene.place.write({ 'docs/lamp.md': '# Harbour\n\nThe lamp of the northern tower is green.\n' })
  const { code, stdout } = await ask(['{"colour":"green"}'], ['--schema', 'colour', '--docs', 'docs'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"colour":"green"}\n' })
  expect(scene.server?.requests[0]).toMatch(/from a document \(source: [^]*The lamp of the northern tower is green/)
})

test.each([
  [['--multi'], '--multi needs --schema'],
  [['--schema', 'name', '--events'], '--schema and --events exclude each other'],
  [['--schema', 'name whatever'], 'is not a field'],
])('%j is wrong usage', async (words, expected) => {
  const { code, stderr } = await ask([''], words)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected) })
  expect(scene.server?.requests).toHaveLength(0)
})

test('without a generative model it is refused', async () => {
  const { code, stderr } = await scene.place.run(['ask', 'Who?', '--schema', 'name'], { input: 'Ada wrote it.' })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--schema needs a model that writes') })
})

describe.runIf(hasTerminal)('in a terminal', () => {
  test('the object is indented, and its escape codes are inert', async () => {
    scene.server = await chatServer(answer(JSON.stringify({ name: 'A\u009B2Jda' })))
    const { code, stdout } = await scene.place.run(['ask', 'Who?', '-m', 'openai-compatible/test', '--schema', 'name'], {
      inTerminal: true,
      env: { OPENAI_COMPATIBLE_BASE_URL: scene.server.url, TERM: 'xterm-256color' },
    })
    expect(code).toBe(0)
    expect(stdout).toContain('{\r\n  "name": "A<U+009B>2Jda"\r\n}')
  })
})
