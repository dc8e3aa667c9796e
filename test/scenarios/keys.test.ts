/** Tests stored keys, the default model, and model aliases. */

import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answer, chatServer } from '../support/chat-server.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
beforeEach(() => {
  place = newPlace()
})
afterEach(() => {
  place[Symbol.dispose]()
})

const KEY = 'house-0123456789abcdef'
const file = (): string => join(place.home, 'cria.keys.json')

test('a stored key is used until it is removed, unless the environment has one', async () => {
  const sent: (string | undefined)[] = []
  await using server = await chatServer(async (response, request) => {
    sent.push(request.headers.authorization)
    await answer('Yes.')(response, request)
  })
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.url }
  const ask = ['ask', 'Is it?', '-m', 'openai-compatible/test']
  expect(await place.run(['keys', 'set', 'openai-compatible'], { input: `${KEY}\n` })).toMatchObject({ code: 0, stdout: '' })
  expect(statSync(file()).mode.toString(8)).toMatch(/600$/)

  expect((await place.run(ask, { env })).code).toBe(0)
  expect((await place.run(ask, { env: { ...env, OPENAI_COMPATIBLE_API_KEY: 'other-key' } })).code).toBe(0)
  expect(sent).toEqual([`Bearer ${KEY}`, 'Bearer other-key'])

  const listed = await place.run(['keys', 'list'])
  expect(listed.stdout).toMatch(/OPENAI_COMPATIBLE_API_KEY +file/)
  const models = await place.run(['models', '--offline'], { env })
  expect(models.stdout).toContain('key from cria keys')
  const { stdout: journal } = await place.run(['logs', 'export'])
  for (const { stdout, stderr } of [listed, models, { stdout: journal, stderr: '' }]) expect(stdout + stderr).not.toContain(KEY)

  expect((await place.run(['keys', 'remove', 'openai-compatible'])).code).toBe(0)
  expect(existsSync(file())).toBe(false)
  expect((await place.run(['keys', 'remove', 'openai-compatible'])).code).toBe(1)
})

test('concurrently stored keys are all kept, also after the death of a process', async () => {
  const providers = ['openai', 'anthropic', 'mistral', 'groq', 'deepseek', 'xai']
  mkdirSync(place.home, { recursive: true })
  writeFileSync(`${file()}.lock`, '')
  utimesSync(`${file()}.lock`, 0, 0)
  const ended = await Promise.all(providers.map((name) => place.run(['keys', 'set', name], { input: `${KEY}-${name}` })))
  expect(ended.map(({ code }) => code)).toEqual(providers.map(() => 0))
  expect(Object.keys(JSON.parse(readFileSync(file(), 'utf8')) as object)).toHaveLength(providers.length)
  expect(existsSync(`${file()}.lock`)).toBe(false)
})

test('programs that a task starts receive no stored key', async () => {
  const { agentServer } = await import('../support/agent-server.ts')
  await using server = await agentServer([
    { calls: [{ name: 'run_command', input: { command: 'env > env.txt' } }] },
    { text: 'Done.' },
  ])
  await place.run(['keys', 'set', 'openai-compatible'], { input: KEY })
  await place.run(['run', 'Go', '-m', 'openai-compatible/test', '--allow=run_command', '--sandbox', 'off'], {
    env: { OPENAI_COMPATIBLE_BASE_URL: server.url },
  })
  expect(place.read('env.txt')).toContain('PATH=')
  expect(place.read('env.txt')).not.toContain(KEY)
})

test.each([
  [['keys', 'set', 'opnai'], 'Did you mean openai?'],
  [['keys', 'set', 'ollama'], 'ollama needs no key'],
  [['keys', 'set', 'openai'], 'This is not a key'],
])('%j is refused with the reason', async (words, expected) => {
  const { code, stderr } = await place.run(words, { input: 'two words\n' })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected) })
})

test('a damaged key file is reported without its content, and stops nothing else', async () => {
  await place.run(['keys', 'set', 'openai'], { input: KEY })
  const { writeFileSync } = await import('node:fs')
  writeFileSync(file(), `{ "OPENAI_API_KEY": "${KEY}`)
  const { code, stderr } = await place.run(['logs', 'list'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('it is not JSON') })
  expect(stderr).not.toContain(KEY)
})

test('the default model and aliases are added to config.json', async () => {
  await using server = await chatServer(answer('Yes.'))
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.url }
  place.configure({ nResults: 7 })
  expect((await place.run(['models', 'alias', 'house', 'openai-compatible/small'], { env })).code).toBe(0)
  expect((await place.run(['models', 'default', 'house'], { env })).code).toBe(0)
  expect(JSON.parse(readFileSync(join(place.home, 'config.json'), 'utf8'))).toEqual({
    nResults: 7,
    aliases: { house: 'openai-compatible/small' },
    models: { main: 'openai-compatible/small' },
  })
  for (const words of [[], ['-m', 'house']]) {
    expect((await place.run(['ask', 'Is it?', ...words], { env })).code).toBe(0)
    expect(JSON.parse(server.requests.at(-1) ?? '{}')).toMatchObject({ model: 'small' })
  }
  expect((await place.run(['models', 'default'], { env })).stdout).toBe('openai-compatible/small\n')
  expect((await place.run(['models', 'alias'])).stdout).toBe('house  openai-compatible/small\n')
  const near = await place.run(['ask', 'Is it?', '-m', 'huose'], { env })
  expect({ code: near.code, stderr: near.stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Did you mean "house"?') })
  expect((await place.run(['models', 'alias', 'main', 'openai/x'])).code).toBe(2)
  expect((await place.run(['models', 'alias', 'house', '--remove'])).code).toBe(0)
  expect((await place.run(['models', 'alias', 'house'])).code).toBe(1)
})

describe.runIf(hasTerminal)('in a terminal', () => {
  test('a key is typed invisibly, and Ctrl-C stores none', async () => {
    const typing = place.start(['keys', 'set', 'openai'], { inTerminal: true, isTyped: true })
    await typing.shows('Key for openai: ')
    typing.process.stdin.write(`${KEY}x\u007F\r`)
    const { code, stdout } = await typing.ended
    expect(code).toBe(0)
    expect(stdout).not.toContain(KEY.slice(0, 8))
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ OPENAI_API_KEY: KEY })

    const leaving = place.start(['keys', 'set', 'anthropic'], { inTerminal: true, isTyped: true })
    await leaving.shows('Key for anthropic: ')
    leaving.process.stdin.write('half\u0003')
    expect((await leaving.ended).code).toBe(130)
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ OPENAI_API_KEY: KEY })
  })
})
