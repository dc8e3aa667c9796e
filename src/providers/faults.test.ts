/** Tests recordings of real traffic with wire faults: harmless faults change nothing, others become named errors. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import type { Outcome } from '../../test/support/ask-provider.ts'
import { REPLAYED, useReplayServer } from '../../test/support/replayed-models.ts'
import type { ReplayedModel } from '../../test/support/replayed-models.ts'
import { expectedOf, hasRecordings, recordings } from '../../test/support/shared-wire.ts'
import type { Expected, Recording } from '../../test/support/shared-wire.ts'
import { stopwatch } from '../../test/support/stopwatch.ts'
import type { ErrorCode } from '../core/error.ts'
import { sendOverHttp } from './connection.ts'

const server = useReplayServer()

function askAt(api: ReplayedModel, segment: string, stream = true, signal?: AbortSignal): Promise<Outcome> {
  return ask(server.create(api, segment), { stream }, signal)
}

/** Short streams: one of text, and one of a tool call where there is one. */
function samples({ api }: ReplayedModel): { recording: Recording; expected: Expected }[] {
  if (!hasRecordings) return []
  const streams = recordings(api)
    .filter(
      ({ stream, status, scenario }) =>
        stream && status === 200 && !scenario.includes('error-in-stream') && !scenario.includes('server-tools'),
    )
    .map((recording) => ({ recording, expected: expectedOf(recording) }))
    .filter(({ expected }) => expected.finish === 'stop' || expected.finish === 'tool-calls')
  const text = streams.filter(({ expected }) => (expected.text ?? '').length > 15 && expected.finish === 'stop')
  const call = streams.find(({ expected }) => expected.finish === 'tool-calls')
  return [text[0], text[Math.floor(text.length / 2)], call].filter((sample) => sample !== undefined)
}

const HARMLESS =
  `comments empty-events crlf cr mixed-eol bom no-space multi-data unknown-fields unknown-events unterminated duplicate-done
  garbage-line gzip br deflate wrong-content-type no-content-type connection-close header-flood
  crlf,bom,comments,multi-data,unknown-fields cr,unknown-events,no-space`.split(/\s+/)

/** Each API over `fetch`, and one over `node:http`, which the command line uses. */
const TRANSPORTS = REPLAYED.flatMap((api, index) => [
  { ...api, transport: 'fetch' },
  ...(index === 0 ? [{ ...api, transport: 'node:http' }] : []),
])

describe.skipIf(!hasRecordings).each(TRANSPORTS)('faults of $api over $transport', ({ transport, ...api }) => {
  beforeAll(() => sendOverHttp(transport === 'node:http'))
  afterAll(() => sendOverHttp(false))

  test.each(HARMLESS)('ENG-STREAM-002 %s changes nothing', async (fault) => {
    for (const { recording, expected } of samples(api)) {
      for (const split of ['event', 'nasty']) {
        const outcome = await askAt(api, `${recording.name};fault=${fault};split=${split}`)
        expect(outcome.error).toBeUndefined()
        expect(outcome).toMatchObject({
          text: expected.text ?? '',
          thinking: expected.reasoning ?? '',
          finish: { reason: expected.finish },
        })
        expect(outcome.calls.map((call) => call.name)).toEqual((expected.toolCalls ?? []).map((call) => call.name))
      }
    }
  })

  test('the first of two end marks ends the answer', async () => {
    const alone = api.api === 'openai-chat' || api.api === 'anthropic-messages'
    for (const { recording, expected } of samples(api)) {
      for (const fault of alone ? ['after-done', 'no-done'] : ['after-done']) {
        const outcome = await askAt(api, `${recording.name};fault=${fault}`)
        expect(outcome).toMatchObject({ text: expected.text ?? '', error: undefined, finish: { reason: expected.finish } })
      }
    }
  })

  test.each<readonly [fault: string, code: ErrorCode, retryable: boolean]>([
    ['no-finish', 'stream_interrupted', true],
    ['truncate', 'stream_interrupted', true],
    ['close-mid-stream', 'stream_interrupted', true],
    ['close-mid-event', 'stream_interrupted', true],
    ['reset-mid-stream', 'stream_interrupted', true],
    ['reset-mid-event', 'stream_interrupted', true],
    ['gzip-truncated', 'stream_interrupted', true],
    ['malformed-json', 'stream_interrupted', true],
    ['fake-gzip', 'invalid_response', true],
    ['html-200', 'invalid_response', true],
    ['empty-200', 'invalid_response', true],
    ['error-event', 'overloaded', true],
    ['error-then-more', 'overloaded', true],
    ['reset-before-headers', 'network', true],
    ['close-before-headers', 'network', true],
    ['html-502', 'overloaded', true],
    ['context-length', 'context_length', false],
    ['quota', 'quota', false],
    ['redirect;location=http%3A%2F%2Flocalhost%3A9%2Fx', 'invalid_response', false],
  ])('%s is %s', async (fault, code, retryable) => {
    for (const { recording, expected } of samples(api)) {
      const { error, finish, text, calls } = await askAt(api, `${recording.name};fault=${fault}`)
      expect({ name: recording.name, code: error?.code, retryable: error?.retryable }).toEqual({
        name: recording.name,
        code,
        retryable,
      })
      expect(error?.message).toMatch(new RegExp(`^${api.model.split('/', 1)[0]}`))
      expect(error?.message).not.toMatch(/<\w|fetch failed|a-key-of-no-worth/)
      expect(finish).toBeUndefined()
      expect((expected.text ?? '').startsWith(text)).toBe(true)
      if (code !== 'stream_interrupted') expect(calls).toEqual([])
    }
  })

  test('a stream cut after any event is either interrupted or complete', { timeout: 60_000 }, async () => {
    for (const { recording, expected } of samples(api)) {
      for (let after = 1; after < 40; after++) {
        for (const fault of ['truncate', 'reset-mid-stream', 'close-mid-event']) {
          const { error, finish, text } = await askAt(api, `${recording.name};fault=${fault};after=${after};settle=1`)
          expect((expected.text ?? '').startsWith(text)).toBe(true)
          if (error === undefined)
            expect({ text, finish: finish?.reason }).toEqual({ text: expected.text ?? '', finish: expected.finish })
          else expect(error.code).toBe('stream_interrupted')
        }
      }
    }
  })

  test.each([
    ['2', 2000],
    ['0.5', 500],
    ['ms:1500', 1500],
    ['huge', 31_536_000_000],
    ['bogus', undefined],
    ['negative', undefined],
    ['past', undefined],
    ['empty', undefined],
  ])('Retry-After %s is %s milliseconds', async (retryAfter, ms) => {
    const { error } = await askAt(api, `synth;fault=status;code=429;retryAfter=${encodeURIComponent(retryAfter)}`)
    expect(error).toMatchObject({ code: 'rate_limited', status: 429 })
    expect(error?.details?.['retryAfterMs']).toBe(ms)
  })

  test('Retry-After as a date is the time until then', async () => {
    const { error } = await askAt(api, 'synth;fault=status;code=503;retryAfter=httpdate:5')
    expect(error?.details?.['retryAfterMs']).toBeGreaterThan(2000)
    expect(error?.details?.['retryAfterMs']).toBeLessThanOrEqual(5000)
  })

  test('the header x-should-retry decides about a retry', async () => {
    expect((await askAt(api, 'synth;fault=status;code=500;shouldRetry=false')).error).toMatchObject({
      code: 'overloaded',
      retryable: false,
    })
    expect((await askAt(api, 'synth;fault=status;code=400;shouldRetry=true')).error).toMatchObject({
      code: 'invalid_request',
      retryable: true,
    })
  })

  test('invalid UTF-8, lone surrogates and NUL are delivered, and the rest is intact', async () => {
    const { recording, expected } = samples(api)[0] ?? { recording: undefined, expected: undefined }
    for (const [fault, text] of [
      ['invalid-utf8', '\uFFFD\uFFFD('],
      ['lone-surrogate', '\uD83D'],
      ['nul', '\0'],
    ] as const) {
      const outcome = await askAt(api, `${recording?.name};fault=${fault};split=nasty`)
      expect(outcome.error).toBeUndefined()
      expect(outcome.text).toBe(text + (expected?.text ?? ''))
    }
  })

  test('usage that is not sent is unknown', async () => {
    const { recording } = samples(api)[0] ?? {}
    const { usage, error } = await askAt(api, `${recording?.name};fault=drop-usage`)
    expect(error).toBeUndefined()
    expect(usage).toMatchObject({ inputTokens: null, outputTokens: null, exactness: 'unknown' })
  })

  test('an abort at any event closes the connection within 100 ms', async () => {
    const { recording } = samples(api)[0] ?? {}
    for (const [index, fault] of ['hang', 'stall-forever;after=1', 'stall-forever;after=3'].entries()) {
      const key = `${recording?.name};fault=${fault};mark=${index}`
      const controller = new AbortController()
      const outcome = askAt(api, key, true, controller.signal)
      await new Promise((resolve) => setTimeout(resolve, 60))
      const sinceAbort = stopwatch()
      controller.abort()
      expect((await outcome).error?.code).toBe('aborted')
      expect(sinceAbort()).toBeLessThan(100)
      await expect
        .poll(() => server.log().find((line) => line.key === key))
        .toMatchObject({ aborted: true, socketDestroyed: true })
    }
  })

  test('arguments that are not JSON are marked, and not repaired', async () => {
    const tools = encodeURIComponent(JSON.stringify([{ id: 'c1', name: 'search', args: '{"q": tru' }]))
    const { calls, error } = await askAt(api, `synth;tools=${tools}`)
    expect(error).toBeUndefined()
    // Gemini sends objects, so the server wraps the text.
    if (api.api === 'gemini') expect(calls).toMatchObject([{ name: 'search', input: { raw: '{"q": tru' } }])
    else expect(calls).toMatchObject([{ name: 'search', input: '{"q": tru', invalid: expect.stringContaining('JSON') as string }])
  })
})

const TWO_CALLS = encodeURIComponent(
  JSON.stringify([
    { id: 'c1', name: 'search', args: { q: 'a' } },
    { id: 'c2', name: 'search', args: { q: 'b' } },
  ]),
)

describe.skipIf(!hasRecordings)('tool calls as servers of Chat Completions send them', () => {
  test.each([
    'interleave=1',
    'toolIndex=same',
    'toolIndex=none',
    'toolIndex=one',
    'toolIds=none',
    'toolIds=late',
    'argsAs=object',
    'toolIndex=same;argsAs=object',
  ])('%s: two calls, each with its own arguments and id', async (option) => {
    for (const split of ['event', 'nasty']) {
      const { calls, finish, error } = await askAt(REPLAYED[0], `synth;tools=${TWO_CALLS};${option};split=${split}`)
      expect(error).toBeUndefined()
      expect(calls.map(({ name, input }) => [name, input])).toEqual([
        ['search', { q: 'a' }],
        ['search', { q: 'b' }],
      ])
      expect(new Set(calls.map((call) => call.id)).size).toBe(2)
      expect(finish?.reason).toBe('tool-calls')
    }
  })

  test.each(['""', '"{}"', '"  "'])('arguments %s of a tool without parameters are read as none', async (args) => {
    const tools = encodeURIComponent(`[{"id":"c1","name":"now","args":${args}}]`)
    expect((await askAt(REPLAYED[0], `synth;tools=${tools}`)).calls).toMatchObject([{ name: 'now', input: {} }])
  })
})
