/** Checks a budget that a caller gives. */

import type { Budget, BudgetLimits } from '../core/budget.ts'
import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel } from '../core/model.ts'

const SHARED_KEYS: readonly string[] = ['tokens', 'costUsd']
const TURN_KEYS: readonly string[] = [...SHARED_KEYS, 'ms', 'session', 'day', 'user', 'tags']

/** @throws ConfigurationError that names the key, what was expected and what came. */
export function checkBudget(budget: Budget): void {
  checkKeys('budget', budget, TURN_KEYS)
  if (budget.ms !== undefined && !(budget.ms >= 1 && Number.isFinite(budget.ms))) throw noLimit('budget.ms', 1, budget.ms)
  checkLimits('budget', budget)
  for (const [tag, limits] of Object.entries(budget.tags ?? {})) {
    checkKeys(`budget.tags[${JSON.stringify(tag)}]`, limits, SHARED_KEYS)
    checkLimits(`budget.tags[${JSON.stringify(tag)}]`, limits)
  }
  for (const scope of ['session', 'day', 'user'] as const) {
    const limits = budget[scope]
    if (limits === undefined) continue
    checkKeys(`budget.${scope}`, limits, SHARED_KEYS)
    checkLimits(`budget.${scope}`, limits)
  }
}

function checkLimits(name: string, limits: BudgetLimits): void {
  for (const kind of ['tokens', 'costUsd'] as const) {
    const limit: unknown = limits[kind]
    if (limit !== undefined && !(typeof limit === 'number' && Number.isFinite(limit) && limit >= 0))
      throw noLimit(`${name}.${kind}`, 0, limit)
  }
}

/** A misspelt limit would be none. */
function checkKeys(name: string, value: object, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null) throw new ConfigurationError(`\`${name}\` must be an object.`)
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw new ConfigurationError(`\`${name}\` has the key ${JSON.stringify(unknown)}, but knows only ${known.join(', ')}.`)
}

function noLimit(name: string, least: number, value: unknown): ConfigurationError {
  return new ConfigurationError(`\`${name}\` must be a number of at least ${least}, but is ${String(value)}.`)
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
