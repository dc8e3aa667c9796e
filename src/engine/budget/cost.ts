/** Computes what calls cost, and refuses budgets in money where that is not known. */

import type { Budget } from '../../core/budget.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { LanguageModel, Price, Rates } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'

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

/** The rates of a call with so much input, for all of its tokens. */
export function ratesFor(inputTokens: number, { tiers, ...base }: Price): Rates {
  return tiers?.findLast(({ above }) => inputTokens > above) ?? base
}

/** A sum with something unknown is unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}

/**
 * A limit in money cannot be kept where nobody knows what a request costs.
 *
 * @throws ConfigurationError that names the model and says where its price is stated.
 */
export function checkPrices(budget: Budget, models: readonly LanguageModel[]): void {
  if (!limitsMoney(budget)) return
  for (const { ref, facts } of models) {
    if ((facts.price ?? undefined) !== undefined) continue
    throw new ConfigurationError(`A budget in US dollars cannot be kept with ${ref}: its price is not known.`, {
      hint:
        `State what it costs, in dollars for a million tokens: {"modelFacts": {"${ref}": {"price": {"input": 1, "output": 2}}}} in ` +
        'config.json, or createModel(name, { facts: { price: { input: 1, output: 2 } } }). Or leave the budget out.',
    })
  }
}

function limitsMoney({ tags, ...limits }: Budget): boolean {
  return [limits, limits.session, limits.day, limits.user, ...Object.values(tags ?? {})].some((one) => one?.costUsd !== undefined)
}
