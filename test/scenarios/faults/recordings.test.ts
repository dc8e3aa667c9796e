/** Tests the fault matrix on recorded traffic: real streams with every fault of the replay server, through the public `query()`. */

import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createModel } from '../../../src/app/models.ts'
import { query } from '../../../src/app/query.ts'
import type { ErrorCode } from '../../../src/core/error.ts'
import type { Json } from '../../../src/core/json.ts'
import type { LanguageModel } from '../../../src/core/model.ts'
import {
  chunksOf,
  expectedOf,
  hasRecordings,
  recordings,
  replayServer,
  warnThatRecordingsAreMissing,
} from '../../support/shared-wire.ts'
import type { Expected, LogLine, Recording, ReplayServer } from '../../support/shared-wire.ts'
import { stopwatch } from '../../support/stopwatch.ts'
import { countingTool, forAll, FULL, journal, play, played } from './played.ts'
import { needed } from './wire.ts'

const APIS = [
  { api: 'openai-responses', model: 'openai/gpt-5-mini', version: 'v1' },
  { api: 'openai-chat', model: 'openai-chat/gpt-4o', version: 'v1' },
  { api: 'openai-chat', model: 'openai-compatible/some-model', version: 'v1' },
  { api: 'openai-chat', model: 'ollama/llama3.2', version: 'v1' },
  { api: 'anthropic-messages', model: 'anthropic/claude-sonnet-4-5', version: 'v1' },
  { api: 'gemini', model: 'google/gemini-2.5-flash', version: 'v1beta' },
] as const
type Api = (typeof APIS)[number]
type Attempt = Readonly<Record<string, string | number>>

// Hooks of a file whose tests are all skipped do not run.
if (!hasRecordings) warnThatRecordingsAreMissing()

let server: ReplayServer | undefined
beforeAll(async () => {
  if (hasRecordings) server = await replayServer()
})
afterAll(async () => {
  await server?.close()
  console.log(`${played()} turns over the replay server were played and found sound.`)
})

interface Served {
  readonly model: LanguageModel
  /** Lines of the log, one for each finished request. */
  readonly log: () => LogLine[]
}

let scenarios = 0

/** A model whose n-th request gets the n-th attempt. */
function serve({ model, version }: Api, attempts: readonly Attempt[]): Served {
  const name = `scenario-${scenarios++}`
  server?.scenarios.set(name, { attempts })
  const baseURL = `${server?.url}/${name}/${version}`
  return {
    model: createModel(model, { baseURL, apiKey: 'a-key-of-no-worth', env: {} }),
    log: () => (server?.log ?? []).filter((line) => line.type === 'request' && line.key === name),
  }
}

const TEXT = 'The quick brown fox jumps over the lazy dog 🦊 and naps.'
const SYNTH = { recording: 'synth', text: TEXT, pieces: 8 }
const DONE = { recording: 'synth', text: 'Done.' }

/** A short recorded stream that calls tools. */
function toolRecording({ api }: Api): { recording: Recording; expected: Expected; places: number } | undefined {
  return recordings(api)
    .filter(
      ({ stream, status, scenario }) =>
        stream && status === 200 && scenario.includes('tool-call') && !scenario.includes('server-tools'),
    )
    .map((recording) => ({ recording, expected: expectedOf(recording), places: needed(chunksOf(recording)) }))
    .filter(({ expected, places }) => expected.finish === 'tool-calls' && (expected.toolCalls?.length ?? 0) > 0 && places > 1)
    .toSorted((one, other) => Math.abs(one.places - 14) - Math.abs(other.places - 14))[0]
}

interface Place {
  readonly fault: string
  readonly after: number
}

const CUTS = [
  'truncate',
  'close-mid-event',
  'reset-mid-stream',
  'reset-mid-event',
  'error-event',
  'error-then-more',
  'malformed-json',
]

/** Returns each fault at each event; for the gate one fault per event, alternating. */
function places(count: number): Place[] {
  return Array.from({ length: count }, (_, after) => after).flatMap((after) =>
    CUTS.filter((fault, index) => (FULL || index === after % CUTS.length) && (after > 0 || !fault.startsWith('error'))).map(
      (fault) => ({ fault, after }),
    ),
  )
}

const nameOf = ({ fault, after }: Place): string => `${fault} after ${after}`

describe.skipIf(!hasRecordings).each(APIS)('$model', (api) => {
  test(
    'ENG-ERR-005 a stream that breaks at any event is tried again, once, and its text is there once',
    { timeout: 120_000 },
    async () => {
      const { log } = serve(api, [SYNTH])
      expect(log()).toEqual([])
      const count = api.api === 'gemini' ? 7 : 9
      await forAll(places(count), nameOf, async ({ fault, after }) => {
        const served = serve(api, [{ ...SYNTH, fault, after, settle: 1 }, SYNTH])
        const turn = await play({ model: served.model })
        expect(turn.last).toMatchObject({ type: 'complete', result: { text: TEXT, finishReason: 'stop' } })
        expect(turn.of('retry')).toHaveLength(1)
        await expect.poll(() => served.log(), { interval: 2 }).toHaveLength(2)
      })
    },
  )

  test('ENG-ERR-005 a recorded tool call runs once, for every break of its stream', { timeout: 120_000 }, async () => {
    const found = toolRecording(api)
    if (found === undefined) throw new Error(`There is no recording of ${api.api} that calls tools.`)
    const { recording, expected } = found
    const calls = expected.toolCalls ?? []
    await forAll(places(found.places), nameOf, async ({ fault, after }) => {
      const counted = [...new Set(calls.map(({ name }) => name))].map((name) => countingTool(name))
      const tools = counted.map(({ tool }) => tool)
      const served = serve(api, [{ recording: recording.name, fault, after, settle: 1 }, { recording: recording.name }, DONE])
      const turn = await play({ model: served.model, tools })
      expect(turn.last).toMatchObject({ type: 'complete', result: { text: 'Done.', steps: 2 } })
      expect(turn.of('retry')).toHaveLength(1)
      expect(counted.flatMap(({ runs }) => runs)).toHaveLength(calls.length)
      expect(turn.of('tool_request').map(({ tool }) => [tool.name, tool.input])).toEqual(
        calls.map(({ name, argumentsJson }) => [name, JSON.parse(argumentsJson === '' ? '{}' : argumentsJson) as Json]),
      )
      expect(turn.of('message')[0]?.message.content).toBe(expected.text ?? '')
      await expect.poll(() => served.log(), { interval: 2 }).toHaveLength(3)
      expect(served.log().flatMap(({ violations = [] }) => violations)).toEqual([])
    })
  })

  test('a stalled stream is aborted, its socket is closed, and it is retried', { timeout: 60_000 }, async () => {
    const stalls = [{ fault: 'hang', after: 0 }, ...[1, 2, 4, 6].map((after) => ({ fault: 'stall-forever', after }))]
    await forAll(FULL ? stalls : stalls.slice(0, 3), nameOf, async ({ fault, after }) => {
      const served = serve(api, [{ ...SYNTH, fault, after }, SYNTH])
      const turn = await play({ model: served.model, timeouts: { firstToken: 400, idle: 400 } })
      expect(turn.last).toMatchObject({ type: 'complete', result: { text: TEXT } })
      expect(turn.of('retry').map(({ error }) => error.code)).toEqual(['timeout'])
      await expect.poll(() => served.log()).toHaveLength(2)
      expect(served.log().find(({ aborted }) => aborted)).toMatchObject({ socketDestroyed: true })
    })
  })

  test('an abort closes the socket without further requests', async () => {
    for (const [fault, after] of [
      ['hang', 0],
      ['stall-forever', 1],
      ['stall-forever', 5],
    ] as const) {
      const served = serve(api, [{ ...SYNTH, fault, after }])
      const controller = new AbortController()
      const turn = play({ model: served.model, abortSignal: controller.signal })
      await pause(80)
      const sinceAbort = stopwatch()
      controller.abort()
      expect((await turn).last.type).toBe('cancelled')
      expect(sinceAbort()).toBeLessThan(100)
      await expect.poll(() => served.log()).toMatchObject([{ aborted: true, socketDestroyed: true }])
    }
  })

  test.each<readonly [Attempt, ErrorCode]>([
    [{ fault: 'reset-before-headers' }, 'network'],
    [{ fault: 'close-before-headers' }, 'network'],
    [{ fault: 'html-502' }, 'overloaded'],
    [{ fault: 'html-200' }, 'invalid_response'],
    [{ fault: 'empty-200' }, 'invalid_response'],
    [{ fault: 'no-finish' }, 'stream_interrupted'],
    [{ fault: 'gzip-truncated' }, 'stream_interrupted'],
    [{ fault: 'fake-gzip' }, 'invalid_response'],
    [{ fault: 'status', code: 429 }, 'rate_limited'],
    [{ fault: 'status', code: 529 }, 'overloaded'],
  ])('%o is retried: %s', async (fault, code) => {
    const served = serve(api, [{ ...SYNTH, ...fault }, { ...SYNTH, ...fault }, SYNTH])
    const turn = await play({ model: served.model })
    expect(turn.last).toMatchObject({ type: 'complete', result: { text: TEXT } })
    expect(turn.of('retry').map(({ error }) => error.code)).toEqual([code, code])
    for (const { error } of turn.of('retry')) expect(error.message).not.toMatch(/<\w|fetch failed|a-key-of-no-worth/)
    await expect.poll(() => served.log()).toHaveLength(3)
  })

  test.each<readonly [Attempt, ErrorCode]>([
    [{ fault: 'quota' }, 'quota'],
    [{ fault: 'context-length' }, 'context_length'],
    [{ fault: 'redirect', location: 'http://localhost:9/elsewhere' }, 'invalid_response'],
    [{ fault: 'status', code: 401 }, 'auth'],
    [{ fault: 'status', code: 400 }, 'invalid_request'],
  ])('%o is not retried: %s', async (fault, code) => {
    const served = serve(api, [{ ...SYNTH, ...fault }])
    const turn = await play({ model: served.model })
    expect(turn.last).toMatchObject({ type: 'error', error: { code, retryable: false } })
    expect(turn.of('retry')).toEqual([])
    await expect.poll(() => served.log()).toHaveLength(1)
  })

  test.each([
    'duplicate-done',
    'after-done',
    'unterminated',
    'drop-usage',
    'unknown-events',
    'json-instead-of-stream',
    'connection-close',
    'header-flood',
    'huge-line',
    ...(FULL
      ? [
          'comments',
          'empty-events',
          'crlf',
          'cr',
          'mixed-eol',
          'bom',
          'no-space',
          'multi-data',
          'unknown-fields',
          'gzip',
          'br',
          'deflate',
          'wrong-content-type',
          'no-content-type',
          'garbage-line',
          'slow-headers',
          'invalid-utf8',
          'lone-surrogate',
          'nul',
          'terminal-escape',
        ]
      : []),
  ])('%s completes with one request', async (fault) => {
    const served = serve(api, [{ ...SYNTH, fault, mb: 1, delay: fault === 'slow-headers' ? 1 : 0 }])
    const turn = await play({ model: served.model })
    expect(turn.last.type).toBe('complete')
    if (fault === 'json-instead-of-stream') expect(turn.text).toBe('not a stream')
    else expect(turn.text).toContain(TEXT.slice(12))
    await expect.poll(() => served.log()).toHaveLength(1)
  })

  test('a tool call with arguments that are not JSON is not run', async () => {
    const tools = JSON.stringify([{ id: 'c1', name: 'search', args: '{"q": tru' }])
    const { tool, runs } = countingTool('search')
    const schema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
    const served = serve(api, [{ recording: 'synth', tools }, DONE])
    const turn = await play({ model: served.model, tools: [{ ...tool, inputSchema: schema }] })
    expect(runs).toEqual([])
    expect(turn.of('tool_result')).toMatchObject([{ result: { isError: true } }])
    expect(turn.last).toMatchObject({ type: 'complete', result: { text: 'Done.' } })
  })

  test('the fallback takes over after the first text, and is the model of the result', async () => {
    const primary = serve(api, [{ ...SYNTH, fault: 'reset-mid-stream', after: 5, settle: 20 }])
    const backup = serve(APIS[(APIS.indexOf(api) + 1) % APIS.length] ?? api, [SYNTH])
    const turn = await play({ model: primary.model, fallbackModels: [backup.model], retry: { maxRetries: 1 } })
    expect(turn.last).toMatchObject({ type: 'complete', result: { text: TEXT, model: backup.model.ref } })
    expect(turn.of('model_switch')).toMatchObject([{ from: api.model, to: backup.model.ref }])
    await expect.poll(() => [primary.log().length, backup.log().length]).toEqual([2, 1])
  })

  test(
    'ENG-STREAM-002 of 100,000 deltas only what a pausing reader takes, and some buffers, leave the server',
    { timeout: 60_000 },
    async () => {
      if (!FULL && api.api === 'openai-chat' && api.model !== 'openai-compatible/some-model') return
      const served = serve(api, [{ recording: 'gen', n: 100_000, size: 400 }])
      let taken = 0
      for await (const event of query({ prompt: 'Hi', model: served.model, recorder: await journal() })) {
        if (event.type === 'text_delta') taken += event.text.length
        if (taken < 10_000) continue
        await pause(300)
        break
      }
      await expect.poll(() => served.log()).toMatchObject([{ aborted: true, socketDestroyed: true }])
      expect(served.log()[0]?.eventsSent).toBeLessThan(50_000)
    },
  )
})
