import type { Price, Rates } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'

/**
 * US dollars for a call; `null` when the price or the tokens are unknown. Cached input without a price of its own costs full price. Where the price
 * rises with the length of the input, cached tokens count as input.
 */
export function costOf(usage: Usage, price: Price | undefined): number | null {
  if (price === undefined || usage.inputTokens === null || usage.outputTokens === null) return null
  const rates = ratesFor(usage.inputTokens, price)
  const read = usage.cacheReadTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  const anHour = Math.min(written, usage.cacheWrite1hTokens ?? 0)
  const fresh = Math.max(0, usage.inputTokens - read - written)
  const writeRate = rates.cacheWrite ?? rates.input
  const millionths =
    fresh * rates.input +
    read * (rates.cacheRead ?? rates.input) +
    (written - anHour) * writeRate +
    anHour * (rates.cacheWrite1h ?? writeRate) +
    usage.outputTokens * rates.output
  return millionths / 1_000_000
}

/** What a call with so much input is charged, for all of its tokens. */
export function ratesFor(inputTokens: number, { tiers, ...base }: Price): Rates {
  return tiers?.findLast(({ above }) => inputTokens > above) ?? base
}

/** A sum with something unknown is unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
