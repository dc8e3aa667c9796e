/** Budgets of turns, sessions, days, users and tags, in the loop. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { all, calling, collect, tool } from '../../test/calls.ts'
import { NOTHING } from '../core/budget.ts'
import type { BudgetStore } from '../core/budget.ts'
import { CriaError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Price } from '../core/model.ts'
import { ResponseCache } from '../model/response-cache.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { Script } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { query } from './query.ts'

const PRICE: Price = { input: 1, output: 10 }
const CHEAP: Price = { input: 0.1, output: 1 }
const USAGE = { inputTokens: 1000, outputTokens: 100 }
/** The cost of a request of `USAGE` at `PRICE`. */
const COST = 0.002
const NO_WAIT = { initialDelay: 0 }

function model(script: Script, price: Price | null = PRICE, ref = 'scripted/model'): ScriptedModel {
  return new ScriptedModel(script, { ref, facts: { ...(price === null ? {} : { price }), maxOutputTokens: 1000 } })
}

const yes = { text: 'Yes.', usage: USAGE }

function errorOf(events: readonly QueryEvent[]): Extract<QueryEvent, { type: 'error' }>['error'] | undefined {
  const last = events.at(-1)
  return last?.type === 'error' ? last.error : undefined
}

describe('the budget of a turn', () => {
  it('ends the turn before a request that does not fit, with what was used', async () => {
    const asked = new ScriptedModel(
      [{ toolCalls: [{ name: 'look', input: {} }], usage: { inputTokens: 900, outputTokens: 50 } }, 'Done.'],
      { facts: { maxOutputTokens: 500 } },
    )
    const events = await collect({ model: asked, tools: [tool('look', () => 'Nothing.')], budget: { tokens: 960 } })
    expect(asked.requests).toHaveLength(1)
    expect(errorOf(events)).toMatchObject({
      code: 'budget_exceeded',
      retryable: false,
      details: { kind: 'tokens', scope: 'turn', limit: 960, used: 950, reserved: 0 },
    })
  })

  it('limits the output of a request to what is left', async () => {
    const asked = model([yes])
    const events = await collect({ model: asked, budget: { costUsd: 0.005 } })
    const limit = asked.requests[0]?.maxOutputTokens ?? Infinity
    expect(limit).toBeLessThanOrEqual(500)
    expect(limit).toBeGreaterThan(450)
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { costUsd: COST } })
  })

  it('does not change a request that fits', async () => {
    const asked = model([yes, yes])
    await collect({ model: asked, maxOutputTokens: 77, budget: { costUsd: 1, tokens: 1e6, ms: 60_000 } })
    await collect({ model: asked, budget: {} })
    expect(asked.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([77, undefined])
  })

  it('a fallback model is priced with its own price', async () => {
    const down = { fail: { after: 0, error: new CriaError('model_unavailable', 'gone') } }
    const dear = model([yes], { input: 1000, output: 10_000 }, 'scripted/dear')
    const events = await collect({ model: model([down], CHEAP), fallbackModels: [dear], budget: { costUsd: 0.01 } })
    expect(all(events, 'model_switch')).toMatchObject([{ to: 'scripted/dear' }])
    expect(dear.requests).toEqual([])
    expect(errorOf(events)).toMatchObject({ code: 'budget_exceeded', details: { kind: 'costUsd', limit: 0.01, used: 0 } })
  })

  it('counts broken attempts as reported or estimated; refused ones cost nothing', async () => {
    const broken = new CriaError('stream_interrupted', 'broken')
    const asked = model([
      { fail: { after: 0, error: new CriaError('overloaded', 'busy') } },
      { text: ['a'.repeat(350), 'b'], fail: { after: 1, error: broken } },
      yes,
    ])
    const events = await collect({ model: asked, retry: NO_WAIT, budget: { tokens: 1e6 } })
    const last = events.at(-1)
    const usage = last?.type === 'complete' ? last.result.usage : undefined
    expect(usage).toMatchObject({ exactness: 'estimated', outputTokens: 200 })
    expect(usage?.inputTokens).toBeGreaterThan(1000)
    expect(usage?.inputTokens).toBeLessThan(1020)
  })

  it('retries stop when the budget does', async () => {
    const broken = {
      parts: [{ type: 'usage' as const, usage: { ...FULL, ...USAGE } }],
      fail: { after: 1, error: new CriaError('stream_interrupted', 'broken') },
    }
    const asked = model(() => broken)
    const events = await collect({ model: asked, retry: { ...NO_WAIT, maxRetries: 10 }, budget: { costUsd: 2.5 * COST } })
    expect(asked.requests).toHaveLength(3)
    expect(errorOf(events)).toMatchObject({ code: 'budget_exceeded', details: { used: 3 * COST } })
  })

  it('estimates unreported usage, and marks it', async () => {
    const events = await collect({ model: model(['x'.repeat(3500)]) })
    expect(all(events, 'usage')).toMatchObject([{ usage: { outputTokens: 1000, exactness: 'estimated' } }])
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { costUsd: expect.closeTo(0.01, 4) } })
  })

  it('refuses a model of unknown price where money is limited, at once', () => {
    const [unknown, known] = [model([], null, 'scripted/unknown'), model([])]
    const ask = (): unknown => query({ prompt: 'Go', model: known, fallbackModels: [unknown], budget: { costUsd: 1 } })
    expect(ask).toThrow(/cannot be kept with scripted\/unknown/)
    expect(() => query({ prompt: 'Go', model: known, budget: { tokens: -1 } })).toThrow(/`budget.tokens`/)
  })

  it('ends the turn with its text so far when time is up', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const slow = model([{ text: ['Half', ' an answer'], hang: { after: 1 } }])
    const events = await collect({ model: slow, recorder, budget: { ms: 30 } })
    expect(errorOf(events)).toMatchObject({ code: 'budget_exceeded', details: { kind: 'ms', scope: 'turn', limit: 30 } })
    expect(slow.open).toBe(0)
    const { turns } = recorder.read.turns()
    expect(turns).toMatchObject([{ status: 'failed', usage: { exactness: 'estimated' } }])
    await recorder.close()
  })

  it('ends the turn when time is up while a tool runs', async () => {
    const events = await collect({
      model: calling([{ name: 'wait' }]),
      tools: [
        tool(
          'wait',
          (_input, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
        ),
      ],
      budget: { ms: 30 },
    })
    expect(all(events, 'tool_result')).toHaveLength(1)
    expect(errorOf(events)).toMatchObject({ code: 'budget_exceeded', details: { kind: 'ms' } })
  })

  it('an answer from the cache needs no budget', async () => {
    const cache = new ResponseCache()
    const asked = model([yes])
    await collect({ model: asked, cache })
    const again = await collect({ model: asked, cache, budget: { tokens: 0, costUsd: 0 } })
    expect(again.at(-1)).toMatchObject({ type: 'complete', result: { cacheHit: true, costUsd: 0 } })
  })
})

const FULL = {
  totalTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
  exactness: 'exact' as const,
}

describe('budgets that turns share', () => {
  let recorder: SqliteRecorder
  beforeEach(async () => {
    recorder = await SqliteRecorder.open({ path: ':memory:' })
  })
  afterEach(() => recorder.close())

  it('limits the turns of a session together, and no other session', async () => {
    const asked = model([yes, yes, yes])
    const budget = { session: { costUsd: 2 * COST + 0.0001 } }
    for (const sessionId of ['a', 'a', 'b']) {
      const events = await collect({ model: asked, maxOutputTokens: 100, recorder, sessionId, budget })
      expect(events.at(-1)).toMatchObject({ type: 'complete' })
    }
    const refused = await collect({ model: asked, maxOutputTokens: 100, recorder, sessionId: 'a', budget })
    expect(errorOf(refused)).toMatchObject({ code: 'budget_exceeded', details: { scope: 'session', used: 2 * COST } })
  })

  it('limits a day, including turns without a budget', async () => {
    const asked = model([yes, yes])
    await collect({ model: asked, recorder })
    const events = await collect({ model: asked, recorder, budget: { day: { tokens: 1110 } } })
    expect(errorOf(events)).toMatchObject({ details: { kind: 'tokens', scope: 'day', limit: 1110, used: 1100 } })
    expect(asked.requests).toHaveLength(1)
  })

  it('concurrent turns never reserve the same amount', async () => {
    let together = 0
    const asked = model(async () => {
      together++
      await new Promise((resolve) => setTimeout(resolve, 20))
      return { text: 'Yes.', usage: { inputTokens: 20, outputTokens: 900 } }
    })
    // Each reserves a little more than 1000 tokens: three fit at the same time.
    const turns = await Promise.all(
      Array.from({ length: 8 }, () => collect({ model: asked, recorder, budget: { day: { tokens: 3500 } } })),
    )
    const done = turns.filter((events) => events.at(-1)?.type === 'complete')
    const refused = turns.flatMap((events) => errorOf(events) ?? [])
    expect(together).toBe(done.length)
    // The fourth got the rest of the budget and a shorter answer.
    expect(done.length).toBeGreaterThanOrEqual(3)
    expect(refused).toHaveLength(8 - done.length)
    for (const error of refused) expect(error).toMatchObject({ code: 'budget_exceeded', retryable: true })
  })

  it('a reader that leaves frees the reservation', async () => {
    const slow = model([{ text: ['Half', ' an answer'], hang: { after: 1 } }])
    const turn = query({ prompt: 'Go', model: slow, recorder, budget: { day: { tokens: 5000 } } })
    for await (const event of turn) if (event.type === 'text_delta') break
    const events = await collect({ model: model([yes]), recorder, budget: { day: { tokens: 1200 } } })
    expect(events.at(-1)).toMatchObject({ type: 'complete' })
  })

  it('records use before the turn continues, for any thenable of the store', async () => {
    let settled = 0
    const later = (done: () => void): void => {
      settled++
      done()
    }
    const store: BudgetStore = {
      reserve: (_, plan) =>
        void plan({ session: { settled: NOTHING, reserved: NOTHING }, day: { settled: NOTHING, reserved: NOTHING } }),
      // oxlint-disable-next-line unicorn/no-thenable -- libraries have their own promises, which are not a Promise
      settle: () => ({ then: later }) as unknown as Promise<void>,
    }
    Object.defineProperty(recorder, 'budget', { value: store })
    await collect({ model: model([yes]), recorder, budget: { day: { tokens: 5000 } } })
    expect(settled).toBe(1)
  })

  it('apply within the process without a journal', async () => {
    const asked = model(() => yes)
    // A separate day, so that no other test counts.
    const clock = { now: () => Date.UTC(2001, 1, 3), sleep: () => new Promise<void>(() => {}) }
    const results: (string | undefined)[] = []
    for (let turn = 0; turn < 4; turn++) {
      const events = await collect({ model: asked, clock, maxOutputTokens: 100, budget: { day: { costUsd: 2 * COST + 0.0001 } } })
      results.push(events.at(-1)?.type)
    }
    expect(results).toEqual(['complete', 'complete', 'error', 'error'])
  })
})

describe('the budgets of a user and of tags', () => {
  it('apply to all sessions of the day, and not to other users', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const ask = (userId: string, tags: readonly string[], budget: object): Promise<QueryEvent[]> =>
      collect({ model: model([yes]), recorder, userId, tags, budget })
    const small = { user: { costUsd: 0.0021 } }
    expect((await ask('ada', [], small)).at(-1)).toMatchObject({ type: 'complete' })
    expect(errorOf(await ask('ada', [], small))).toMatchObject({
      code: 'budget_exceeded',
      details: { scope: 'user', name: 'ada' },
    })
    expect((await ask('bob', ['beta'], small)).at(-1)).toMatchObject({ type: 'complete' })
    const tagged = await ask('eve', ['beta'], { tags: { beta: { tokens: 1150 } } })
    expect(errorOf(tagged)).toMatchObject({ code: 'budget_exceeded', details: { scope: 'tag', name: 'beta', used: 1100 } })
    await recorder.close()
  })

  it('require a user and tags', () => {
    const given = { model: model([]), prompt: 'Well?' }
    expect(() => query({ ...given, budget: { user: { tokens: 1 } } })).toThrow('needs a `userId`')
    expect(() => query({ ...given, tags: ['a'], budget: { tags: { b: { tokens: 1 } } } })).toThrow('not one of `tags`')
    expect(() => query({ ...given, tags: ['a'], budget: { tags: { a: { tokens: -1 } } } })).toThrow('budget.tags["a"].tokens')
    for (const tag of ['', 'a\nb', 'x'.repeat(101)])
      expect(() => query({ ...given, tags: [tag] })).toThrow('`tags[0]` must be a text')
    expect(() => query({ ...given, userId: '\u0007' })).toThrow('`userId` must be a text of 1 to 200')
  })
})
