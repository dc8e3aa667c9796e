/** Model, usage, cost and causes in the answers and errors of bots. */

import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { CriaError, foldEvents, isCriaError, query, SimpleBot, StructuredBot } from '../index.ts'
import type { LanguageModel } from '../index.ts'
import { ScriptedModel } from '../testing.ts'

const PRICED = { facts: { price: { input: 1_000_000, output: 2_000_000 } } }
const usage = { inputTokens: 7, outputTokens: 3 }
const quiet = { recorder: false, streamTarget: 'none' } as const

async function failureOf(work: Promise<unknown>): Promise<CriaError> {
  const failure: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!isCriaError(failure)) throw new TypeError(`A CriaError was expected, not ${String(failure)}`)
  return failure
}

test('CORE-SIMPLE-020 an answer names its model, its steps, its cost and its notices, and whether it was cached', async () => {
  const down = new ScriptedModel(() => ({ fail: { after: 0, error: new CriaError('model_unavailable', 'Gone.') } }), {
    ref: 'a/one',
  })
  const second = new ScriptedModel([{ text: 'Yes.', usage }], { ref: 'b/two', facts: { ...PRICED.facts, thinking: false } })
  const bot = new SimpleBot({ ...quiet, model: down, fallbackModels: [second], enableThinking: true })
  expect(await bot.ask('Is it?')).toMatchObject({
    content: 'Yes.',
    model: 'b/two',
    steps: 1,
    cacheHit: false,
    costUsd: 13,
    usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, exactness: 'exact' },
    notices: [{ code: 'left_out', message: expect.stringContaining('thinking') as string }],
  })
})

test('CORE-STRUCT-001 the error of an answer that never fits holds the usage of all attempts', async () => {
  const model = new ScriptedModel(() => ({ text: 'no JSON', usage }), PRICED)
  const bot = new StructuredBot({ ...quiet, model, schema: { type: 'object' }, numAttempts: 2 })
  expect(await failureOf(bot.ask('Is it?'))).toMatchObject({ code: 'invalid_response', costUsd: 26, usage: { totalTokens: 20 } })
})

test('ENG-ERR-004 an error holds the usage of the turn, as event and as rejection', async () => {
  const script = [{ text: 'Half', usage, fail: { after: 2, error: new CriaError('policy', 'No.') } }]
  const spent = { usage: { inputTokens: 7, exactness: 'estimated' }, costUsd: expect.any(Number) as number }
  expect(await failureOf(new SimpleBot({ ...quiet, model: new ScriptedModel(script, PRICED) }).ask('Is it?'))).toMatchObject({
    code: 'policy',
    details: { text: 'Half' },
    ...spent,
  })
  const events = await Array.fromAsync(query({ model: new ScriptedModel(script, PRICED), prompt: 'Is it?' }))
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'policy', ...spent } })
})

test('ENG-ERR-001 an aborted call rejects with an AbortError, its cause and its usage', async () => {
  const reason = new Error('The user left.')
  const abort = new AbortController()
  const model = new ScriptedModel(
    [{ text: ['Half ', 'way'], usage, before: (part) => (part === 1 ? abort.abort(reason) : undefined) }],
    PRICED,
  )
  const failure = await failureOf(new SimpleBot({ ...quiet, model }).ask('Is it?', { signal: abort.signal }))
  expect(failure).toMatchObject({
    name: 'AbortError',
    code: 'aborted',
    message: 'The user left.',
    usage: { exactness: 'estimated' },
  })
  expect(failure.cause).toBe(reason)
  expect(failure.costUsd).toBeGreaterThan(0)
})

test('ENG-USAGE-001 sums up a total that the provider does not report, for steps and turn', async () => {
  const tool = {
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    needsPermission: false,
    call: () => 'seen',
  }
  const model = new ScriptedModel(
    [
      { toolCalls: [{ name: 'look', input: {} }], usage },
      { text: 'Done.', usage },
    ],
    PRICED,
  )
  const events = await Array.fromAsync(query({ model, prompt: 'Look.', tools: [tool] }))
  const steps = events.flatMap((event) => (event.type === 'usage' ? [[event.usage.totalTokens, event.costUsd]] : []))
  expect(steps).toEqual([
    [10, 13],
    [10, 13],
  ])
  expect(foldEvents(events).result?.usage.totalTokens).toBe(20)
})

/** A model of the user, around what it throws. */
function throwing(error: unknown): LanguageModel {
  return {
    ref: 'mine/model',
    facts: { contextWindow: null, maxOutputTokens: null },
    async *stream() {
      throw error
    },
  }
}

test('ENG-ERR-006 distinguishes errors of a supplied model: connection, HTTP status, mistake', async () => {
  const server = createServer().listen(0)
  const { port } = server.address() as { readonly port: number }
  await new Promise((closed) => server.close(closed))
  const refused: unknown = await fetch(`http://127.0.0.1:${port}`).catch((error: unknown) => error)
  const ended = async (error: unknown): Promise<CriaError> =>
    failureOf(new SimpleBot({ ...quiet, model: throwing(error), retry: { maxRetries: 0 } }).ask('Is it?'))

  expect(await ended(refused)).toMatchObject({
    code: 'network',
    retryable: true,
    message: expect.stringMatching(/^fetch failed: .*ECONNREFUSED/) as string,
  })
  expect(await ended(new TypeError('terminated'))).toMatchObject({ code: 'network' })
  expect(await ended(Object.assign(new Error('Slow down.'), { status: 429 }))).toMatchObject({
    code: 'rate_limited',
    status: 429,
  })
  expect(await ended(Object.assign(new Error('Busy.'), { statusCode: 503 }))).toMatchObject({ code: 'overloaded' })
  expect(await ended(Object.assign(new Error('Who?'), { status: 401 }))).toMatchObject({ code: 'auth', retryable: false })
  const mistake = await ended(new TypeError('x is not a function'))
  expect(mistake).toMatchObject({ code: 'internal', hint: expect.stringContaining('mine/model') as string })
  expect(mistake.hint).not.toContain('bug in cria')
})

test('ENG-ERR-005 stream() refuses to take text back unless it is given a way to do so', async () => {
  const broken = { text: ['Wro', 'ng'], fail: { after: 1, error: new CriaError('stream_interrupted', 'Broke off.') } }
  const bot = (afterOutput: 'retry' | 'error'): SimpleBot =>
    new SimpleBot({ ...quiet, model: new ScriptedModel([broken, 'Right.']), retry: { afterOutput, initialDelay: 0 } })
  expect(() => bot('retry').stream('Is it?')).toThrow(/`recover: 'replay'`/)
  expect(await Array.fromAsync(bot('retry').stream('Is it?', { recover: 'replay' }))).toEqual(['Right.'])
  expect(await Array.fromAsync(bot('error').stream('Is it?', { recover: 'replay' }))).toEqual(['Right.'])
  expect(await failureOf(bot('error').ask('Is it?'))).toMatchObject({ code: 'stream_interrupted', details: { text: 'Wro' } })
  expect(await bot('retry').ask('Is it?')).toMatchObject({ content: 'Right.' })
})
