import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { query, SimpleBot } from '../index.ts'
import type { LanguageModel, Tool } from '../index.ts'
import { cassette, collect, ScriptedModel } from '../testing.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-cassette-'))
  file = join(folder, 'answers', 'weather.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const weather: Tool<{ town: string }> = {
  name: 'weather',
  description: 'The weather of a town.',
  inputSchema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  needsPermission: false,
  call: ({ town }) => `Fog in ${town}.`,
}
const turn = (model: LanguageModel): ReturnType<typeof collect> =>
  collect(query({ prompt: 'What do I wear in Bergen?', model, tools: [weather] }))
const answering = (): ScriptedModel =>
  new ScriptedModel([{ toolCalls: [{ name: 'weather', input: { town: 'Bergen' } }] }, { text: ['Take ', 'a coat.'] }], {
    facts: { contextWindow: 9000 },
  })

test('ENG-STREAM-003 replays a recorded turn without the model, part by part', async () => {
  const model = answering()
  const first = await turn(cassette(file, model))
  expect(model.requests).toHaveLength(2)
  const again = await turn(cassette(file, model))
  expect(model.requests).toHaveLength(2)
  const played = cassette(file)
  expect(played).toMatchObject({ ref: 'scripted/model', facts: { contextWindow: 9000 } })
  const alone = await turn(played)
  for (const { types, text, toolResults, result } of [again, alone]) {
    expect(types).toEqual(first.types)
    expect(text).toBe('Take a coat.')
    expect(toolResults.map(({ content }) => content)).toEqual(['Fog in Bergen.'])
    expect(result?.usage).toEqual(first.result?.usage)
  }
})

test('an unrecorded request fails without a model, and is recorded with a model', async () => {
  const ask = (model: LanguageModel, prompt: string): Promise<string> =>
    new SimpleBot({ model, recorder: false, streamTarget: 'none' }).ask(prompt).then(({ content }) => content)
  await ask(cassette(file, new ScriptedModel(['Fog.'])), 'Bergen?')
  await expect(ask(cassette(file), 'Oslo?')).rejects.toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      message: expect.stringMatching(/weather\.json holds no answer.*"Oslo\?"/) as string,
    }),
  )
  expect(await ask(cassette(file, new ScriptedModel(['Sun.'])), 'Oslo?')).toBe('Sun.')
  expect(await ask(cassette(file), 'Oslo?')).toBe('Sun.')
  expect(await ask(cassette(file), 'Bergen?')).toBe('Fog.')
})

test('equal requests get their answers in order, then the last answer again', async () => {
  const ask = async (model: LanguageModel): Promise<string | undefined> => (await collect(query({ prompt: 'Roll.', model }))).text
  const recording = cassette(file, new ScriptedModel(['One.', 'Six.']))
  expect([await ask(recording), await ask(recording)]).toEqual(['One.', 'Six.'])
  const played = cassette(file)
  expect([await ask(played), await ask(played), await ask(played)]).toEqual(['One.', 'Six.', 'Six.'])
})

test('an interrupted answer is not recorded', async () => {
  const broken = new ScriptedModel([{ text: ['Fo', 'g.'], fail: { after: 1, error: new Error('gone') } }])
  const { types } = await collect(query({ prompt: 'Bergen?', model: cassette(file, broken), retry: { maxRetries: 0 } }))
  expect(types.at(-1)).toBe('error')
  expect(() => cassette(file)).toThrow(/There is no recording .*weather\.json: pass a model to cassette\(\)/)
})

test('rejects a file that is not a recording, and leaves it unchanged', () => {
  const other = join(folder, 'package.json')
  writeFileSync(other, '{"name": "x"}')
  expect(() => cassette(other, answering())).toThrow(/is not a recording of a cassette/)
  writeFileSync(other, 'x')
  expect(() => cassette(other)).toThrow(expect.objectContaining({ code: 'configuration' }))
  expect(() => cassette(file, 'openai/gpt-5' as never)).toThrow(/such as createModel\(\) makes, but got "openai\/gpt-5"/)
  expect(readFileSync(other, 'utf8')).toBe('x')
})

test('the error for an unrecorded request lists the differences from the nearest recording', async () => {
  const ask = (model: LanguageModel, system: string, prompt: string, temperature = 0): Promise<unknown> =>
    new SimpleBot({ model, recorder: false, streamTarget: 'none', system, temperature }).ask(prompt)
  const model = new ScriptedModel(() => 'Fog.')
  await ask(cassette(file, model), 'Be brief.', 'Bergen?')
  await ask(cassette(file, model), `Be kind. ${'So '.repeat(60)}`, 'Bergen?')
  const missed = async (work: Promise<unknown>): Promise<string> => {
    const failure: unknown = await work.catch((error: unknown) => error)
    return failure instanceof Error ? failure.message : 'none'
  }
  const message = await missed(ask(cassette(file), 'Be brief.', 'Oslo?', 0.5))
  expect(message.split('\n').slice(1)).toEqual([
    '- temperature: recorded 0, now 0.5',
    '- messages[1] (user): recorded "Bergen?", now "Oslo?"',
  ])
  // Texts with the same beginning differ by their hash.
  const later = await missed(ask(cassette(file), `Be kind. ${'So '.repeat(61)}`, 'Bergen?'))
  expect(later).toMatch(/messages\[0\] \(system\): recorded "Be kind\..*… \([0-9a-f]{8}\), now "Be kind\..*… \([0-9a-f]{8}\)$/)
  // A recording of an older version has no outlines.
  const recording = JSON.parse(readFileSync(file, 'utf8')) as { answers: { outline?: unknown }[] }
  for (const answer of recording.answers) delete answer.outline
  writeFileSync(file, JSON.stringify(recording))
  expect(await missed(ask(cassette(file), 'Be brief.', 'Oslo?'))).toMatch(/holds no answer to this request .*"Oslo\?"\.$/)
})
