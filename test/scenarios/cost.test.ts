/** Compares the cost of real answers with cached input to amounts computed by hand from price lists. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createModel, defineTool, foldEvents, query } from '../../src/index.ts'
import type { QueryResult } from '../../src/index.ts'
import { expectedOf, hasRecordings, recordings, replayServer, warnThatRecordingsAreMissing } from '../support/shared-wire.ts'
import type { Recording, ReplayServer } from '../support/shared-wire.ts'
import { wireServer } from '../support/wire-server.ts'

if (!hasRecordings) warnThatRecordingsAreMissing()

let server: ReplayServer | undefined
beforeAll(async () => {
  if (hasRecordings) server = await replayServer()
})
afterAll(() => server?.close())

const APIS = [
  { api: 'anthropic-messages', provider: 'anthropic', version: 'v1' },
  { api: 'gemini', provider: 'google', version: 'v1beta' },
  { api: 'openai-responses', provider: 'openai', version: 'v1' },
  { api: 'openai-chat', provider: 'openai-chat', version: 'v1' },
] as const

/** Dollars per million tokens, from the price lists of the providers. */
const LIST: readonly { model: RegExp; input: number; read: number; write: number; output: number }[] = [
  { model: /^claude-(3-5-sonnet|sonnet-4-[56])/, input: 3, read: 0.3, write: 3.75, output: 15 },
  { model: /^gemini-2\.5-flash$/, input: 0.3, read: 0.03, write: 0.3, output: 2.5 },
  { model: /^gpt-5-mini/, input: 0.25, read: 0.025, write: 0.25, output: 2 },
  { model: /^gpt-5-2/, input: 1.25, read: 0.125, write: 1.25, output: 10 },
  { model: /^gpt-4o-2/, input: 2.5, read: 1.25, write: 2.5, output: 10 },
]

interface Case {
  readonly name: string
  readonly recording: Recording
  readonly provider: string
  readonly version: string
  readonly model: string
  readonly costUsd: number
}

function casesOf({ api, provider, version }: (typeof APIS)[number]): Case[] {
  return recordings(api).flatMap((recording) => {
    const { scenario, status, name } = recording
    const { model = '', usage = {} } = expectedOf(recording)
    const listed = LIST.find((line) => line.model.test(model))
    if (status !== 200 || listed === undefined || !scenario.some((tag) => /^cache-(read|write)$/.test(tag))) return []
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens: read = 0, cacheWriteTokens: written = 0 } = usage
    const fresh = inputTokens - read - written
    const costUsd = (fresh * listed.input + read * listed.read + written * listed.write + outputTokens * listed.output) / 1e6
    return [{ name, recording, provider, version, model, costUsd }]
  })
}

async function resultOf({ recording, provider, version, model }: Case, facts: object = {}): Promise<QueryResult | undefined> {
  server?.scenarios.set(recording.name, { attempts: [{ recording: recording.name }] })
  const turn = query({
    prompt: 'Hello.',
    model: createModel(`${provider}/${model}`, {
      baseURL: `${server?.url}/${recording.name}/${version}`,
      apiKey: 'a-key-of-no-worth',
      env: {},
      facts,
    }),
    tools: [],
    stream: recording.stream,
  })
  for (;;) {
    const next = await turn.next()
    if (next.done === true) return next.value
    if (next.value.type === 'error') throw new Error(next.value.error.message)
  }
}

describe.skipIf(!hasRecordings)('recorded answers with cached input', () => {
  const cases = hasRecordings ? APIS.flatMap(casesOf) : []

  test('there are at least ten, of several APIs, with cache reads and writes', () => {
    expect(cases.length).toBeGreaterThanOrEqual(10)
    expect(new Set(cases.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(3)
    expect(cases.some(({ recording }) => recording.scenario.includes('cache-write'))).toBe(true)
  })

  test.each(cases)('$name', async (each) => {
    expect((await resultOf(each))?.costUsd).toBeCloseTo(each.costUsd, 12)
  })

  test('an answer costs more above the limit of a tier, and its cost is unknown without a price', async () => {
    const [each] = cases
    if (each === undefined) throw new Error('There is no recording.')
    const tiers = [{ above: 1, input: 1000, output: 1000, cacheRead: 1000, cacheWrite: 1000 }]
    const result = await resultOf(each, { price: { input: 1, output: 1, tiers } })
    const { inputTokens = 0, outputTokens = 0 } = expectedOf(each.recording).usage ?? {}
    expect(result?.costUsd).toBeCloseTo((inputTokens + outputTokens) / 1000, 9)
    const unknown = await resultOf({ ...each, model: 'an-unlisted-model' })
    expect(unknown?.costUsd).toBeNull()
  })
})

test('tokens that Anthropic caches for an hour cost twice the input price, in events and in the sum of two steps', async () => {
  const usage = {
    input_tokens: 1000,
    cache_read_input_tokens: 10_000,
    cache_creation_input_tokens: 3000,
    cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
  }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [] }
  const events = (block: object, delta: object, stop_reason: string): string =>
    [
      { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 100 } },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('')
  await using provider = await wireServer([
    {
      body: events(
        { type: 'tool_use', id: 'a', name: 'now', input: {} },
        { type: 'input_json_delta', partial_json: '{}' },
        'tool_use',
      ),
    },
    { body: events({ type: 'text', text: '' }, { type: 'text_delta', text: 'Noon.' }, 'end_turn') },
  ])
  const turn = query({
    prompt: 'What time is it?',
    model: createModel('anthropic/claude-sonnet-4-5', { baseURL: provider.url, apiKey: 'a-key-of-no-worth', env: {} }),
    tools: [defineTool({ name: 'now', description: 'The time.', inputSchema: {}, needsPermission: false, call: () => '12:00' })],
  })
  const dollars = (1000 * 3 + 10_000 * 0.3 + 1000 * 3.75 + 2000 * 6 + 100 * 15) / 1e6
  const { result } = foldEvents(await Array.fromAsync(turn))
  expect(result?.costUsd).toBeCloseTo(2 * dollars, 12)
  expect(result?.usage).toMatchObject({ inputTokens: 28_000, cacheWriteTokens: 6000, cacheWrite1hTokens: 4000 })
})
