import { expect, it } from 'vitest'
import type { Price } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { plus, costOf } from './cost.ts'

const PRICE: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }

it.each<[what: string, usage: Partial<Usage>, price: Price | undefined, costUsd: number | null]>([
  ['input and output', { inputTokens: 1000, outputTokens: 100 }, PRICE, 0.003 + 0.0015],
  [
    'cached input at its own price, within all input',
    { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 600, cacheWriteTokens: 300 },
    PRICE,
    (100 * 3 + 600 * 0.3 + 300 * 3.75) / 1e6,
  ],
  [
    'cached input without a price of its own',
    { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 600 },
    { input: 3, output: 15 },
    0.003,
  ],
  [
    'what is kept for an hour at its own price, within all that is written',
    { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 100, cacheWriteTokens: 700, cacheWrite1hTokens: 300 },
    { ...PRICE, cacheWrite1h: 6 },
    (200 * 3 + 100 * 0.3 + 400 * 3.75 + 300 * 6) / 1e6,
  ],
  ['reasoning is output', { inputTokens: 0, outputTokens: 100, reasoningTokens: 80 }, PRICE, 0.0015],
  ['an unknown price is unknown', { inputTokens: 1, outputTokens: 1 }, undefined, null],
  [
    'above a length of the input, cached tokens among it, all of it is dearer',
    { inputTokens: 1001, outputTokens: 10, cacheReadTokens: 900 },
    { ...PRICE, tiers: [{ above: 1000, input: 6, output: 22.5, cacheRead: 0.6 }] },
    (101 * 6 + 900 * 0.6 + 10 * 22.5) / 1e6,
  ],
  [
    'up to that length it is not',
    { inputTokens: 1000, outputTokens: 10 },
    { ...PRICE, tiers: [{ above: 1000, input: 6, output: 22.5 }] },
    (1000 * 3 + 10 * 15) / 1e6,
  ],
  ['unknown tokens are unknown', { inputTokens: 1 }, PRICE, null],
  ['a price of nothing is nothing', { inputTokens: 1, outputTokens: 1 }, { input: 0, output: 0 }, 0],
])('%s', (_what, usage, price, costUsd) => {
  const cost = costOf({ ...UNKNOWN_USAGE, ...usage }, price)
  if (costUsd === null) expect(cost).toBeNull()
  else expect(cost).toBeCloseTo(costUsd, 12)
})

it('a sum with an unknown number is unknown', () => {
  expect([plus(1, 2), plus(null, 2), plus(1, null)]).toEqual([3, null, null])
})
