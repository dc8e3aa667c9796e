import type { Price } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'

/** US dollars for a call; `null` when the price or the tokens are unknown. Cached input without a price of its own costs full price. */
export function costOf(usage: Usage, price: Price | undefined): number | null {
  if (price === undefined || usage.inputTokens === null || usage.outputTokens === null) return null
  const read = usage.cacheReadTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  const fresh = Math.max(0, usage.inputTokens - read - written)
  const millionths =
    fresh * price.input +
    read * (price.cacheRead ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output
  return millionths / 1_000_000
}

export function addCost(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}
