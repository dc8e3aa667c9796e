/** Tests the cache breakpoints in the bodies of requests to Anthropic. */

import { describe, expect, test } from 'vitest'
import { all, collect, tool } from '../../test/calls.ts'
import { APIS } from '../../test/support/answers.ts'
import type { Api } from '../../test/support/answers.ts'
import { HISTORY_RULES } from '../../test/support/history-rules.ts'
import type { JsonObject } from '../core/json.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { EngineOptions } from '../engine/options.ts'
import { createProviderModel } from './create.ts'

function apiOf(name: string): Api {
  const api = APIS.find(({ provider }) => provider === name)
  if (api === undefined) throw new Error(`There are no answers of ${name}.`)
  return api
}

const anthropic = apiOf('anthropic')
/** Usage as Anthropic reports it: cached tokens are counted apart from the input. */
const CACHED = '"input_tokens":12,"cache_read_input_tokens":36,"cache_creation_input_tokens":0'

type Block = Readonly<Record<string, unknown>> & { readonly cache_control?: unknown }
interface Body {
  readonly tools?: readonly Block[]
  readonly system?: readonly Block[]
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
}

/** Returns all blocks of a request, in the order in which the provider reads them. */
function blocksOf({ tools = [], system = [], messages }: Body): Block[] {
  return [...tools, ...system, ...messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))]
}

/** Returns the blocks up to each mark, with the marks themselves removed. */
function cachedBy(body: Body): string[] {
  const blocks = blocksOf(body)
  const bare = blocks.map(({ cache_control: _, ...block }) => JSON.stringify(block))
  return blocks.flatMap((block, index) => (block.cache_control === undefined ? [] : [bare.slice(0, index + 1).join('\n')]))
}

const markedKinds = (body: Body): unknown[] =>
  blocksOf(body).flatMap((block) => (block.cache_control === undefined ? [] : [block['type'] ?? block['name']]))

const textOf = (init: RequestInit | undefined): string => (typeof init?.body === 'string' ? init.body : '')

/** Calls `look` in every step except the last. */
async function bodiesOf(steps: number, options: Partial<EngineOptions> = {}, callsPerStep = 1): Promise<Body[]> {
  const bodies: Body[] = []
  const model = createProviderModel(anthropic.model, {
    apiKey: 'a-key-of-no-worth',
    env: {},
    fetch: (_url, init) => {
      bodies.push(JSON.parse(textOf(init)) as Body)
      const calls = Array.from({ length: callsPerStep }, (_, index) => ({
        id: `call_${bodies.length}_${index}`,
        name: 'look',
        arguments: `{"at":${bodies.length * 100 + index}}`,
      }))
      const said = bodies.length < steps ? { text: 'Wait.', thinking: 'Hm.', signature: 'c2ln', calls } : { text: 'Done.' }
      return Promise.resolve(
        new Response(anthropic.stream(said).replaceAll('"input_tokens":12', CACHED), {
          headers: { 'content-type': 'text/event-stream' },
        }),
      )
    },
  })
  const events = await collect({ model, tools: [tool('look', () => 'Nothing.')], ...options })
  expect(events.at(-1)).toMatchObject({ type: 'complete' })
  expect(bodies.flatMap((body) => HISTORY_RULES['anthropic']?.(body))).toEqual([])
  return bodies
}

describe('ENG-CTX-002 cache breakpoints for Anthropic', () => {
  test.each([1, 30])('the next step begins with the blocks that a step has cached, with %i calls in each step', async (calls) => {
    const bodies = await bodiesOf(5, { system: 'You look around.' }, calls)
    expect(bodies).toHaveLength(5)
    for (const [index, body] of bodies.entries()) {
      const cached = cachedBy(body)
      expect(cached.length).toBeLessThanOrEqual(4)
      expect(cached).toHaveLength(Math.min(4, index + 1))
      const next = bodies[index + 1]
      if (next === undefined) continue
      // The provider looks up cache entries at the marked blocks, and only a few blocks before them.
      const longest = cached.at(-1) ?? ''
      expect(cachedBy(next)).toContain(longest)
      expect(cachedBy(next).at(-1)?.startsWith(longest)).toBe(true)
    }
  })

  test('tools and instructions are marked from the first request on, and the unchanging part of the conversation', async () => {
    const [first, second] = await bodiesOf(2, { system: 'You look around.' })
    expect(markedKinds(first as Body)).toEqual(['text'])
    expect(first?.system?.at(-1)?.cache_control).toEqual({ type: 'ephemeral' })
    expect(markedKinds(second as Body)).toEqual(['text', 'tool_result'])
    const [without] = await bodiesOf(1)
    expect(without?.tools?.at(-1)?.cache_control).toEqual({ type: 'ephemeral' })
  })

  test('the next turn hits the cache of the turn before, and the current question is not cached', async () => {
    const said = [
      user('Look.'),
      assistant([{ type: 'tool-call', id: 'c1', name: 'look', input: {} }]),
      toolResult({ id: 'c1', name: 'look', content: 'Nothing.' }),
    ]
    const [last] = await bodiesOf(1, { messages: said, prompt: [] })
    const [next] = await bodiesOf(1, { messages: [...said, assistant('Nothing is there.')], prompt: 'Look again.' })
    expect(cachedBy(next as Body)).toContain(cachedBy(last as Body).at(-1))
    expect(next?.messages.at(-1)?.content.at(-1)?.cache_control).toBeUndefined()
    expect(next?.messages.at(-2)?.content.at(-1)).toMatchObject({
      text: 'Nothing is there.',
      cache_control: { type: 'ephemeral' },
    })
  })

  test('marks can be switched off, and settings of the caller replace them', async () => {
    const saying = (cacheControl: JsonObject | false): Partial<EngineOptions> => ({
      system: 'You look around.',
      providerOptions: { anthropic: { cacheControl } },
    })
    for (const body of await bodiesOf(3, saying(false))) expect(JSON.stringify(body)).not.toContain('cache_control')
    for (const body of await bodiesOf(3, saying({ type: 'ephemeral', ttl: '1h' }))) {
      expect(markedKinds(body)).toEqual([])
      expect(body).toMatchObject({ cache_control: { type: 'ephemeral', ttl: '1h' } })
    }
  })

  test('the cache hit rate is in the metrics', async () => {
    const rates: unknown[] = []
    await bodiesOf(2, { onQueryCompleted: ({ promptCacheHitRate }) => void rates.push(promptCacheHitRate) })
    expect(rates).toEqual([0.75])
  })

  test('other providers receive no marks', async () => {
    const bodies: string[] = []
    const openai = apiOf('openai')
    const model = createProviderModel(openai.model, {
      apiKey: 'a-key-of-no-worth',
      env: {},
      fetch: (_url, init) => {
        bodies.push(textOf(init))
        return Promise.resolve(
          new Response(openai.stream({ text: 'Done.' }), { headers: { 'content-type': 'text/event-stream' } }),
        )
      },
    })
    expect(all(await collect({ model, system: 'You look around.' }), 'complete')).toHaveLength(1)
    expect(bodies.join()).not.toMatch(/cache_?control/i)
  })
})
