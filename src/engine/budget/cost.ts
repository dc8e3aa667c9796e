/** Computes the cost of model calls, and refuses budgets in money for models of unknown price. */

import type { Budget } from '../../core/budget.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { LanguageModel, Price, Rates } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'

/**
 * Returns the US dollars of a call; `null` if the price or the tokens are unknown. Cached input without its own rate is charged as input.
 * For price tiers, cached tokens count as input.
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

/** Returns the rates of all tokens of a call with this input. */
export function ratesFor(inputTokens: number, { tiers, ...base }: Price): Rates {
  return tiers?.findLast(({ above }) => inputTokens > above) ?? base
}

/** Adds two numbers; the sum with an unknown number is unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b
}

/**
 * Checks that the price of every model is known, which a limit in money requires.
 *
 * @throws ConfigurationError that names the model and how to configure its price.
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
