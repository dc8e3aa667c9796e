import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NOTHING } from '../../core/budget.ts'
import type { Amount, BudgetLimits } from '../../core/budget.ts'
import { isCriaError } from '../../core/error.ts'
import type { Price } from '../../core/model.ts'
import { UNKNOWN_FACTS } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'
import { plus, UNKNOWN_USAGE } from '../../core/usage.ts'
import type { Account, BudgetScope, Demand } from './plan.ts'
import { costOf, planRequest } from './plan.ts'

const PRICE: Price = { input: 1, output: 10 }
const FREE: Price = { input: 0, output: 0 }

function demand(more: Partial<Demand> = {}): Demand {
  return {
    inputTokens: 1000,
    maxOutputTokens: undefined,
    facts: { maxOutputTokens: 8000, contextWindow: 200_000 },
    price: PRICE,
    ...more,
  }
}

function account(
  limits: BudgetLimits,
  { scope = 'turn', settled = NOTHING, reserved = NOTHING }: { scope?: BudgetScope; settled?: Amount; reserved?: Amount } = {},
): Account {
  return { scope, limits, settled, reserved }
}

/** 1000 tokens of input count as this many: times 1.4, and 64 for what a provider puts around them. */
const INPUT = 1464
/** Fewer tokens of output are not worth a request. */
const LEAST_OUTPUT = 16

describe('the output that is left for a request', () => {
  it.each<[what: string, demand: Demand, accounts: Account[], maxOutputTokens: number | undefined]>([
    ['no limit: as it is', demand(), [account({})], undefined],
    ['room for all that the model gives: as it is', demand(), [account({ tokens: 100_000 })], undefined],
    ['room for all that was asked for: as it is', demand({ maxOutputTokens: 500 }), [account({ tokens: 5000 })], undefined],
    ['tokens: what is left beside the input', demand(), [account({ tokens: 5000 })], 5000 - INPUT],
    [
      'used and reserved tokens are not available',
      demand(),
      [account({ tokens: 5000 }, { settled: { tokens: 300, costUsd: 0 }, reserved: { tokens: 200, costUsd: 0 } })],
      4500 - INPUT,
    ],
    // 1464 input tokens cost 0.001464; what is left of 0.01 pays for 853 output tokens at 10 dollars a million.
    ['money: what pays for output beside the input', demand(), [account({ costUsd: 0.01 })], 853],
    ['the tightest account counts', demand(), [account({ tokens: 5000 }), account({ costUsd: 0.01 }, { scope: 'day' })], 853],
    ['less than was asked for', demand({ maxOutputTokens: 2000 }), [account({ costUsd: 0.01 })], 853],
    ['a model that costs nothing is not limited by money', demand({ price: FREE }), [account({ costUsd: 0 })], undefined],
    [
      'nor does an overdrawn account limit it',
      demand({ price: FREE }),
      [account({ costUsd: 1 }, { settled: { tokens: 0, costUsd: 2 } })],
      undefined,
    ],
    [
      'output that costs nothing is limited by the model alone',
      demand({ price: { input: 1, output: 0 } }),
      [account({ costUsd: 1 })],
      undefined,
    ],
    [
      'a shared account reserves only a part without a limit of the caller',
      demand({ facts: { maxOutputTokens: 100_000, contextWindow: null } }),
      [account({ costUsd: 50 }, { scope: 'day' })],
      16_384,
    ],
    [
      'a shared account reserves the requested output',
      demand({ maxOutputTokens: 50_000, facts: { maxOutputTokens: 100_000, contextWindow: null } }),
      [account({ costUsd: 50 }, { scope: 'day' })],
      undefined,
    ],
    [
      'a model of unknown output limit',
      demand({ facts: { maxOutputTokens: null, contextWindow: null } }),
      [account({ tokens: 127_999 })],
      127_999 - INPUT,
    ],
    [
      'output that does not fit the window is not asked for',
      demand({ facts: { maxOutputTokens: null, contextWindow: 8000 } }),
      [account({ tokens: 100_000 })],
      undefined,
    ],
    ['exactly the least', demand({ maxOutputTokens: 5 }), [account({ tokens: INPUT + 5 })], undefined],
  ])('%s', (_what, wanted, accounts, maxOutputTokens) => {
    expect(planRequest(wanted, accounts).maxOutputTokens).toBe(maxOutputTokens)
  })

  it('writes even the smallest amount without an exponent', () => {
    const demand = { inputTokens: 1000, maxOutputTokens: 10, facts: UNKNOWN_FACTS, price: { input: 1, output: 1 } }
    const account: Account = { scope: 'turn', limits: { costUsd: 1e-7 }, settled: NOTHING, reserved: NOTHING }
    expect(() => planRequest(demand, [account])).toThrow(/is \$0\.0000001: .* at least \$0\.00\d+\./)
  })

  it('a cache that is written to costs more than input', () => {
    const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
    expect(planRequest(demand({ maxOutputTokens: 100, price }), [account({})])).toEqual({
      maxOutputTokens: undefined,
      most: { tokens: INPUT + 100, costUsd: (INPUT * 3.75 + 100 * 15) / 1_000_000 },
      least: { tokens: 1000, costUsd: (1000 * 3.75) / 1_000_000 },
    })
    const anHour = { ...price, cacheWrite1h: 6 }
    expect(planRequest(demand({ maxOutputTokens: 100, price: anHour }), [account({})])).toMatchObject({
      most: { costUsd: (INPUT * 6 + 100 * 15) / 1_000_000 },
    })
  })

  it.each<[what: string, demand: Demand, accounts: Account[], details: object, retryable: boolean]>([
    [
      'tokens',
      demand(),
      [account({ tokens: INPUT + LEAST_OUTPUT - 1 })],
      { kind: 'tokens', scope: 'turn', limit: INPUT + LEAST_OUTPUT - 1, used: 0, reserved: 0, needed: INPUT + LEAST_OUTPUT },
      false,
    ],
    [
      'money of the day',
      demand(),
      [account({ tokens: 1e6 }), account({ costUsd: 0.5 }, { scope: 'day', settled: { tokens: 1, costUsd: 0.4999 } })],
      { kind: 'costUsd', scope: 'day', limit: 0.5, used: 0.4999, reserved: 0 },
      false,
    ],
    [
      'reserved money may be available later',
      demand(),
      [account({ costUsd: 0.5 }, { scope: 'session', reserved: { tokens: 1, costUsd: 0.5 } })],
      { kind: 'costUsd', scope: 'session', limit: 0.5, used: 0, reserved: 0.5 },
      true,
    ],
    [
      'no money at all',
      demand({ price: { input: 0, output: 1 } }),
      [account({ costUsd: 0 })],
      { kind: 'costUsd', scope: 'turn', limit: 0, used: 0 },
      false,
    ],
  ])('budget_exceeded says which limit, and how much is used: %s', (_what, wanted, accounts, details, retryable) => {
    let thrown: unknown
    try {
      planRequest(wanted, accounts)
    } catch (error) {
      thrown = error
    }
    expect(isCriaError(thrown)).toBe(true)
    expect(thrown).toMatchObject({ code: 'budget_exceeded', retryable, details })
  })

  it('never reserves more than an account has left, and never too little for what it allows', () => {
    const amount = fc.record({ tokens: fc.nat(100_000), costUsd: fc.double({ min: 0, max: 2, noNaN: true }) })
    const limits = fc.record(
      { tokens: fc.nat(300_000), costUsd: fc.double({ min: 0, max: 5, noNaN: true }) },
      { requiredKeys: [] },
    )
    const accounts = fc.array(
      fc.record({ scope: fc.constantFrom<BudgetScope>('turn', 'session', 'day'), limits, settled: amount, reserved: amount }),
      { maxLength: 3 },
    )
    const rate = fc.double({ min: 0, max: 100, noNaN: true })
    const demands = fc.record({
      inputTokens: fc.nat(50_000),
      maxOutputTokens: fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined }),
      facts: fc.record({
        maxOutputTokens: fc.option(fc.integer({ min: 1, max: 200_000 })),
        contextWindow: fc.option(fc.nat(1e6)),
      }),
      price: fc.record({ input: rate, output: rate }),
    })
    fc.assert(
      fc.property(demands, accounts, (wanted, all) => {
        let plan: ReturnType<typeof planRequest>
        try {
          plan = planRequest(wanted, all)
        } catch (error) {
          expect(error).toMatchObject({ code: 'budget_exceeded' })
          return
        }
        expect(plan.least.tokens).toBeLessThanOrEqual(plan.most.tokens)
        for (const {
          limits: { tokens, costUsd },
          settled,
          reserved,
        } of all) {
          if (tokens !== undefined) expect(plan.most.tokens + settled.tokens + reserved.tokens).toBeLessThanOrEqual(tokens)
          if (costUsd !== undefined && plan.most.costUsd > 0)
            expect(plan.most.costUsd + settled.costUsd + reserved.costUsd).toBeLessThanOrEqual(costUsd + 1e-6)
        }
        const output = plan.maxOutputTokens ?? Math.min(wanted.maxOutputTokens ?? 0, plan.most.tokens)
        expect(plan.most.tokens).toBeGreaterThanOrEqual(wanted.inputTokens + output)
        if (wanted.maxOutputTokens !== undefined) expect(output).toBeLessThanOrEqual(wanted.maxOutputTokens)
      }),
    )
  })
})

const CACHED: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }

describe('costOf', () => {
  it.each<[what: string, usage: Partial<Usage>, price: Price | undefined, costUsd: number | null]>([
    ['input and output', { inputTokens: 1000, outputTokens: 100 }, CACHED, 0.003 + 0.0015],
    [
      'cached input at its own price, within all input',
      { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 600, cacheWriteTokens: 300 },
      CACHED,
      (100 * 3 + 600 * 0.3 + 300 * 3.75) / 1e6,
    ],
    [
      'cached input without a price of its own',
      { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 600 },
      { input: 3, output: 15 },
      0.003,
    ],
    [
      'input cached for an hour at its own price, within all written input',
      { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 100, cacheWriteTokens: 700, cacheWrite1hTokens: 300 },
      { ...CACHED, cacheWrite1h: 6 },
      (200 * 3 + 100 * 0.3 + 400 * 3.75 + 300 * 6) / 1e6,
    ],
    ['reasoning is output', { inputTokens: 0, outputTokens: 100, reasoningTokens: 80 }, CACHED, 0.0015],
    ['an unknown price is unknown', { inputTokens: 1, outputTokens: 1 }, undefined, null],
    [
      'a tier prices all tokens above its input length, cached ones included',
      { inputTokens: 1001, outputTokens: 10, cacheReadTokens: 900 },
      { ...CACHED, tiers: [{ above: 1000, input: 6, output: 22.5, cacheRead: 0.6 }] },
      (101 * 6 + 900 * 0.6 + 10 * 22.5) / 1e6,
    ],
    [
      'a tier does not apply up to its input length',
      { inputTokens: 1000, outputTokens: 10 },
      { ...CACHED, tiers: [{ above: 1000, input: 6, output: 22.5 }] },
      (1000 * 3 + 10 * 15) / 1e6,
    ],
    ['unknown tokens are unknown', { inputTokens: 1 }, CACHED, null],
    ['a price of zero costs nothing', { inputTokens: 1, outputTokens: 1 }, { input: 0, output: 0 }, 0],
  ])('%s', (_what, usage, price, costUsd) => {
    const cost = costOf({ ...UNKNOWN_USAGE, ...usage }, price)
    if (costUsd === null) expect(cost).toBeNull()
    else expect(cost).toBeCloseTo(costUsd, 12)
  })

  it('a sum with an unknown number is unknown', () => {
    expect([plus(1, 2), plus(null, 2), plus(1, null)]).toEqual([3, null, null])
  })
})
