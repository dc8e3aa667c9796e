import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../test/calls.ts'
import { openRecorder } from '../app/journal.ts'
import { CriaError } from '../core/error.ts'
import type { ModelFacts } from '../core/model.ts'
import type { QueryMetrics } from '../engine/options.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { ChatMemory } from '../stores/chat-memory.ts'
import { StructuredBot } from './structured-bot.ts'
import type { StructuredAnswer, StructuredBotOptions, UnfitAnswer } from './structured-bot.ts'

const schema = z.object({ name: z.string(), age: z.number().int() })
const bot = (
  answers: readonly string[],
  options: object = {},
): { bot: StructuredBot<{ name: string; age: number }>; model: ScriptedModel } => {
  const model = new ScriptedModel(answers)
  return { model, bot: new StructuredBot({ schema, model, recorder: false, streamTarget: 'none', ...options }) }
}

describe('StructuredBot', () => {
  it('CORE-STRUCT-001 resolves to an object that fits, even from a code fence', async () => {
    const { bot: ada, model } = bot(['```json\n{"name":"Ada","age":36}\n```'])
    expect(await ada.ask('Who?')).toMatchObject({ object: { name: 'Ada', age: 36 }, problems: [], attempts: 1 })
    expect(model.requests[0]?.responseFormat).toMatchObject({
      type: 'json',
      schema: { type: 'object', required: ['name', 'age'] },
    })
    expect(model.requests[0]?.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('JSON Schema') })
  })

  it('CORE-STRUCT-001 refuses `allowFailedValidation` of another type at once', () => {
    expect(() => bot([], { allowFailedValidation: 'yes' })).toThrow(/`allowFailedValidation` .*yes/)
  })

  it('CORE-STRUCT-001 sends the validation problems to the model and asks again', async () => {
    const { bot: ada, model } = bot(['Ada, 36', '{"name":"Ada","age":"old"}', '{"name":"Ada","age":36}'])
    expect(await ada.ask('Who?')).toMatchObject({ object: { age: 36 }, attempts: 3 })
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('not JSON')
    expect(model.requests[2]?.messages.at(-1)?.content).toContain('age')
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
  })

  it('CORE-STRUCT-001 counts the usage of all attempts', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
    const model = new ScriptedModel([
      { text: 'no', usage },
      { text: '{"name":"Ada","age":36}', usage },
    ])
    const answer = await new StructuredBot({ schema, model, recorder: false }).ask('Who?')
    expect(answer).toMatchObject({ attempts: 2, usage: { totalTokens: 30 } })
  })

  it.each([
    ['content-filter', 'I cannot help.', { code: 'policy', message: expect.stringContaining('"I cannot help."') as string }],
    ['length', '{"name":"Ad', { code: 'invalid_response', hint: expect.stringContaining('maxOutputTokens') as string }],
  ] as const)('CORE-STRUCT-001 an answer that ends with %s is not asked for again', async (finish, text, error) => {
    const made = (options: object = {}): { model: ScriptedModel; bot: StructuredBot } => {
      const model = new ScriptedModel([{ text, finish }])
      return { model, bot: new StructuredBot({ schema, model, recorder: false, streamTarget: 'none', ...options }) }
    }
    const strict = made()
    await expect(strict.bot.ask('Who?')).rejects.toMatchObject(error)
    expect(strict.model.requests).toHaveLength(1)
    await expect(Array.fromAsync(made().bot.streamObjects('Who?'))).rejects.toMatchObject(error)
    expect(await made({ allowFailedValidation: true }).bot.ask('Who?')).toMatchObject({ content: text, attempts: 1 })
  })

  it('CORE-STRUCT-001 throws with every attempt, or resolves unchecked if allowed', async () => {
    const wrong = ['{"name":1}', '{"name":2}']
    await expect(bot(wrong, { numAttempts: 2 }).bot.ask('Who?')).rejects.toMatchObject({
      code: 'invalid_response',
      hint: expect.stringContaining('another model') as string,
      details: { attempts: [{ text: '{"name":1}' }, { text: '{"name":2}' }] },
    })
    const lenient = await bot(wrong, { numAttempts: 2, allowFailedValidation: true }).bot.ask('Who?')
    expect(lenient).toMatchObject({ object: { name: 2 }, attempts: 2 })
    expect(lenient.problems.length).toBeGreaterThan(0)
  })

  it('CORE-STRUCT-001 asks again for an answer that is nested too deeply for a schema that refers to itself', async () => {
    const nested = { $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } }, $ref: '#/$defs/list' }
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const { bot: lists, model } = bot([deep, '[[]]'], { schema: nested })
    expect(await lists.ask('Lists?')).toMatchObject({ object: [[]], attempts: 2 })
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('nested too deeply')
    await expect(bot([deep, deep], { schema: nested, maxAttempts: 2 }).bot.stream('Lists?').answer).rejects.toMatchObject({
      code: 'invalid_response',
    })
  })

  it('CORE-STRUCT-001 streams the object as it grows', async () => {
    // Deltas within 10 ms would be joined.
    const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30))
    const model = new ScriptedModel([{ text: ['{"name":"A', 'da","age"', ':36}'], before: turn }])
    const growing = new StructuredBot({ schema, model, recorder: false }).streamObjects('Who?')
    expect(await growing.next()).toEqual({ done: false, value: { name: 'A' } })
    expect(await growing.next()).toEqual({ done: false, value: { name: 'Ada' } })
    expect(await growing.next()).toEqual({ done: false, value: { name: 'Ada', age: 36 } })
    expect(await growing.next()).toMatchObject({ done: true, value: { object: { name: 'Ada', age: 36 } } })
  })

  it('CORE-STRUCT-001 leaving a stream of objects early cancels its turn', async () => {
    const ends: string[] = []
    const { bot: ada } = bot(['{"name":"Ada","age":36}'], {
      onQueryCompleted: ({ state }: QueryMetrics) => void ends.push(state),
    })
    for await (const object of ada.streamObjects('Who?')) {
      expect(object).toEqual({ name: 'Ada', age: 36 })
      break
    }
    expect(ends).toEqual(['cancelled'])
  })
})

describe('StructuredBot is one turn', () => {
  const fits = '{"name":"Ada","age":36}'
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

  it('CORE-STRUCT-001 failed attempts are paid for, but are not in memory, session and questions of the log', async () => {
    const recorder = await openRecorder(':memory:')
    const memory = new ChatMemory()
    const model = new ScriptedModel(
      [{ text: 'Ada!', usage }, { text: '{"name":"Ada"}', usage }, { text: fits, usage }, '{"name":"Bo","age":2}'],
      { facts: { price: { input: 1, output: 2 } } },
    )
    const ada = new StructuredBot({ schema, model, memory, recorder, systemPrompt: 'Be exact.' })
    const answer = await ada.ask('Who?', { sessionId: 's' })
    expect(answer).toMatchObject({ valid: true, object: { name: 'Ada', age: 36 }, attempts: 3, usage: { totalTokens: 45 } })
    expect(answer.costUsd).toBeCloseTo(60e-6, 9)

    const { turns } = await recorder.read.turns()
    expect(turns).toMatchObject([{ question: 'Who?', status: 'done', usage: { totalTokens: 45 } }])
    const detail = await recorder.read.turn(answer.turnId)
    expect(detail?.messages.map(({ role, rejects }) => [role, rejects])).toEqual([
      ['system', undefined],
      ['user', undefined],
      ['assistant', undefined],
      ['user', true],
      ['assistant', undefined],
      ['user', true],
      ['assistant', undefined],
    ])
    expect(detail?.spans.filter(({ name }) => name === 'structuredbot.ask')).toHaveLength(1)
    expect((await memory.retrieve('', 9)).map(({ text }) => text)).toEqual(['Who?', fits])
    expect((await recorder.read.history('s')).map(({ content }) => content)).toEqual(['Who?', fits])

    await ada.ask('And the other?', { sessionId: 's' })
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([2, 4, 6, 4])
    expect(model.requests[2]?.messages.slice(1).map(({ content }) => content.slice(0, 20))).toEqual([
      'Who?',
      'Ada!',
      'That does not fit th',
      '{"name":"Ada"}',
      'That does not fit th',
    ])
    await recorder.close()
  })

  it('CORE-STRUCT-001 a turn without a valid answer fails, and leaves nothing in memory and session', async () => {
    const recorder = await openRecorder(':memory:')
    const memory = new ChatMemory()
    const model = new ScriptedModel(() => 'Ada!')
    const ada = new StructuredBot({ schema, model, memory, recorder, numAttempts: 2 })
    await expect(ada.ask('Who?', { sessionId: 's' })).rejects.toMatchObject({
      code: 'invalid_response',
      details: { attempts: [{ text: 'Ada!' }, { text: 'Ada!' }], turnId: expect.any(String) as string },
    })
    expect((await recorder.read.turns()).turns).toMatchObject([{ question: 'Who?', status: 'failed' }])
    expect(await recorder.read.history('s')).toEqual([])
    expect(await memory.retrieve('', 9)).toEqual([])
    const lenient = new StructuredBot({ schema, model, memory, recorder, numAttempts: 2, allowFailedValidation: true })
    expect(await lenient.ask('Who?')).toMatchObject({ valid: false, attempts: 2, object: undefined })
    expect(await memory.retrieve('', 9)).toEqual([])
    await recorder.close()
  })

  it('CORE-STRUCT-001 checks against a JSON Schema, whose literal gives the object its type', async () => {
    const model = new ScriptedModel(['{"name":"Ada","age":"old","kind":"x"}', '{"name":"Ada","kind":"b"}'])
    const ada = new StructuredBot({
      model,
      recorder: false,
      schema: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          age: { type: 'integer' },
          kind: { enum: ['a', 'b'] },
          tags: { type: 'array', items: { type: ['string', 'null'] } },
        },
        required: ['name', 'kind'],
      },
    })
    const { object } = await ada.ask('Who?')
    expectTypeOf(object).toEqualTypeOf<{ name: string; kind: 'a' | 'b'; age?: number; tags?: (string | null)[] }>()
    expect(object).toEqual({ name: 'Ada', kind: 'b' })
    expect(model.requests[1]?.messages.at(-1)?.content).toContain(
      '- age: must be integer, but is "old"\n- kind: must be one of ["a","b"], but is "x"',
    )
  })

  it('CORE-STRUCT-001 an answer that may fail says whether it is valid, also in its type', async () => {
    const strict = await bot([fits]).bot.ask('Who?')
    expectTypeOf(strict.valid).toEqualTypeOf<true>()
    const model = new ScriptedModel(['{"name":1}'])
    const lenient = new StructuredBot({ schema, model, recorder: false, numAttempts: 1, allowFailedValidation: true })
    const answer = await lenient.ask('Who?')
    // @ts-expect-error The object is only known when the answer is valid.
    expect(answer.object?.name).toBe(1)
    expectTypeOf(answer).toEqualTypeOf<StructuredAnswer<{ name: string; age: number }> | UnfitAnswer>()
    expect(answer.valid ? [] : answer.problems).toHaveLength(2)
  })

  it('CORE-STRUCT-001 stream() returns the object as well, and a stream of objects restarts with a new attempt', async () => {
    const whole = bot([fits]).bot.stream('Who?')
    expect(await whole.next()).toEqual({ done: false, value: fits })
    expect(await whole.next()).toMatchObject({ done: true, value: { valid: true, object: { age: 36 } } })
    const broken = { text: '{"name":"Bo"', fail: { after: 1, error: new CriaError('network', 'Down.') } }
    const model = new ScriptedModel([broken, fits])
    const growing = new StructuredBot({ schema, model, recorder: false, retry: { initialDelay: 0 } }).streamObjects('Who?')
    expect(await Array.fromAsync(growing)).toEqual([{ name: 'Bo' }, { name: 'Ada', age: 36 }])
  })
})

describe('StructuredBot with tools', () => {
  const ran: unknown[] = []
  const look = tool('look', (input) => (ran.push(input), 'Ada is 36.'))
  const agent = (
    answers: readonly ScriptedAnswer[],
    options: Partial<StructuredBotOptions<{ name: string; age: number }>> = {},
    facts: Partial<ModelFacts> = {},
  ): { bot: StructuredBot<{ name: string; age: number }>; model: ScriptedModel } => {
    ran.length = 0
    const model = new ScriptedModel(answers, { facts })
    return { model, bot: new StructuredBot({ schema, model, tools: [look], recorder: false, ...options }) }
  }
  const call: ScriptedAnswer = { toolCalls: [{ name: 'look', input: {} }] }

  it('CORE-STRUCT-001 runs them before it answers', async () => {
    const { bot: ada, model } = agent([call, '{"name":"Ada","age":36}'])
    expect(await ada.ask('Who?')).toMatchObject({ object: { name: 'Ada', age: 36 }, attempts: 1 })
    expect(model.requests[0]).toMatchObject({ tools: [{ name: 'look' }], responseFormat: { type: 'json' } })
    expect(ran).toHaveLength(1)
  })

  it('CORE-STRUCT-001 corrects an answer within the turn, so that no tool runs twice', async () => {
    const { bot: ada, model } = agent([call, 'Ada, 36', '{"name":"Ada"}', '{"name":"Ada","age":36}'])
    expect(await ada.ask('Who?')).toMatchObject({ object: { age: 36 }, attempts: 3 })
    expect(ran).toHaveLength(1)
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
    const { bot: never } = agent([call, 'No.', 'No!', 'Never.'])
    await expect(never.ask('Who?')).rejects.toMatchObject({
      code: 'invalid_response',
      details: { attempts: [{ text: 'No.' }, { text: 'No!' }, { text: 'Never.' }] },
    })
    const { bot: lenient } = agent([call, 'No.'], { numAttempts: 1, allowFailedValidation: true })
    expect(await lenient.ask('Who?')).toMatchObject({
      content: 'No.',
      attempts: 1,
      problems: [expect.stringContaining('not JSON')],
    })
  })

  it('CORE-STRUCT-001 instructs a model in words if it accepts no JSON format beside tools', async () => {
    const { bot: ada, model } = agent(
      [call, '{"name":"Ada","age":36}'],
      {},
      { structuredOutput: true, structuredOutputWithTools: false },
    )
    expect(await ada.ask('Who?')).toMatchObject({ object: { age: 36 } })
    expect(model.requests[0]).not.toHaveProperty('responseFormat')
    expect(model.requests[0]?.messages[0]?.content).toContain('JSON Schema')
  })

  it('CORE-STRUCT-001 refuses to stream objects with tools, and checks the tools', async () => {
    const { bot: ada } = agent([])
    expect(() => ada.streamObjects('Who?')).toThrow('cannot be used with `tools`')
    expect(() => agent([], { tools: [look, look] })).toThrow('Two tools')
  })
})
