/** The arithmetic of budgets: what a request may cost at most, and how much output is left for it. Nothing here knows who keeps the count. */

import type { Amount, Budget, BudgetLimits, BudgetUse, Reservation } from '../core/budget.ts'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { LanguageModel, ModelFacts, Price, Rates } from '../core/model.ts'
import { ratesFor } from './cost.ts'

export type BudgetScope = 'turn' | 'session' | 'day'

/** A budget and what has been used of it. */
export interface Account extends BudgetUse {
  readonly scope: BudgetScope
  readonly limits: BudgetLimits
}

/** A request, as far as budgets are concerned. */
export interface Demand {
  /** Estimate. */
  readonly inputTokens: number
  /** What the caller allows; `undefined`: whatever the model gives. */
  readonly maxOutputTokens: number | undefined
  readonly facts: Pick<ModelFacts, 'maxOutputTokens' | 'contextWindow'>
  /** `undefined`: unknown, which only matters where money is limited. */
  readonly price: Price | undefined
}

export interface Plan extends Reservation {
  /** What the request has to be limited to; `undefined`: as it is. */
  readonly maxOutputTokens: number | undefined
}

/** Estimates go wrong, and the size of an input cannot be limited afterwards: code and some scripts take 2.5 bytes a token, not 3.5. */
export const INPUT_MARGIN = 1.4
/** What providers put around a request and count as input: templates, instructions of their own. */
export const INPUT_OVERHEAD = 64
/** Less output than this is not worth a request; OpenAI's Responses API refuses to be asked for less. */
export const LEAST_OUTPUT = 16
/** No model whose output limit nobody knows is expected to say more. */
export const ASSUMED_OUTPUT = 128_000
/** What a request that names no limit sets aside of a budget that others share: all of it would leave them nothing. */
export const SHARED_OUTPUT = 16_384

/** Sums of fractions are not exact; a millionth of a cent is nobody's loss. */
const ROUNDING = 1e-8

/**
 * What to set aside for a request so that no account can be overdrawn.
 *
 * @throws CriaError `budget_exceeded` when an account has no room for the input and a little output.
 */
export function planRequest(demand: Demand, accounts: readonly Account[]): Plan {
  const input = Math.ceil(demand.inputTokens * INPUT_MARGIN) + INPUT_OVERHEAD
  const asked = demand.maxOutputTokens
  const bound = outputBound(demand, input, accounts)
  const least = Math.min(LEAST_OUTPUT, bound)
  let output = bound
  for (const account of accounts) {
    for (const kind of ['tokens', 'costUsd'] as const) {
      const room = outputRoom(kind, account, input, demand.price)
      if (room < least) throw exceeded(kind, account, amountOf(input, least, demand.price)[kind])
      output = Math.min(output, room)
    }
  }
  const isOwn = output === asked || (asked === undefined && output >= ownBound(demand.facts, input))
  return {
    maxOutputTokens: isOwn ? undefined : output,
    most: amountOf(input, output, demand.price),
    least: amountOf(demand.inputTokens, 0, demand.price),
  }
}

/** What so many tokens cost. Input at its dearest: what goes into a provider's cache may cost more than what does not. */
export function amountOf(inputTokens: number, outputTokens: number, price: Price | undefined): Amount {
  const { input, output } = dearest(inputTokens, price)
  return { tokens: inputTokens + outputTokens, costUsd: (inputTokens * input + outputTokens * output) / 1_000_000 }
}

function dearest(inputTokens: number, price: Price | undefined): Pick<Rates, 'input' | 'output'> {
  if (price === undefined) return { input: 0, output: 0 }
  const { input, output, cacheWrite = 0 } = ratesFor(inputTokens, price)
  return { input: Math.max(input, cacheWrite), output }
}

function outputBound(demand: Demand, input: number, accounts: readonly Account[]): number {
  const own = ownBound(demand.facts, input)
  if (demand.maxOutputTokens !== undefined) return Math.min(demand.maxOutputTokens, own)
  const isShared = accounts.some(({ scope, limits }) => scope !== 'turn' && isLimited(limits))
  return isShared ? Math.min(SHARED_OUTPUT, own) : own
}

/** What the model gives at most. An input that seems to fill the window is the provider's to refuse. */
function ownBound({ maxOutputTokens, contextWindow }: Demand['facts'], input: number): number {
  const window = Math.max(LEAST_OUTPUT, (contextWindow ?? Infinity) - input)
  return Math.min(maxOutputTokens ?? ASSUMED_OUTPUT, window)
}

/** Tokens of output that an account has room for beside the input; below 0 when not even that fits. */
function outputRoom(kind: keyof Amount, account: Account, input: number, price: Price | undefined): number {
  const limit = account.limits[kind]
  if (limit === undefined) return Infinity
  const left = limit - account.settled[kind] - account.reserved[kind]
  if (kind === 'tokens') return Math.floor(left - input)
  const rate = dearest(input, price)
  const afterInput = left - (input * rate.input) / 1_000_000 + ROUNDING
  // What costs nothing always fits.
  if (rate.input === 0 && rate.output === 0) return Infinity
  if (afterInput < 0) return -1
  return rate.output === 0 ? Infinity : Math.floor((afterInput * 1_000_000) / rate.output)
}

const WHOSE: Readonly<Record<BudgetScope, string>> = { turn: 'this turn', session: 'this session', day: 'today (UTC)' }

function exceeded(kind: keyof Amount, { scope, limits, settled, reserved }: Account, needed: number): CriaError {
  const limit = limits[kind] ?? 0
  const waiting = reserved[kind] > 0 ? `, ${inWords(kind, reserved[kind])} set aside for requests under way` : ''
  return new CriaError(
    'budget_exceeded',
    `The budget of ${WHOSE[scope]} is ${inWords(kind, limit)}: ${inWords(kind, settled[kind])} used so far${waiting}; the next ` +
      `request needs at least ${inWords(kind, needed)}. It was not made.`,
    {
      // What is set aside and not used is free again when its request ends.
      retryable: reserved[kind] > 0,
      details: { kind, scope, limit, used: settled[kind], reserved: reserved[kind], needed },
    },
  )
}

/** The turn has used up its time. */
export function timeExceeded(limit: number): CriaError {
  return new CriaError('budget_exceeded', `The budget of this turn is ${limit} ms: they are over, and the turn was ended.`, {
    details: { kind: 'ms', scope: 'turn', limit, used: limit },
  })
}

function inWords(kind: keyof Amount, value: number): string {
  if (kind === 'tokens') return `${value} tokens`
  if (value === 0 || value >= 1) return `$${value.toFixed(2)}`
  return `$${value.toLocaleString('en', { maximumSignificantDigits: 2 })}`
}

export function isLimited(limits: BudgetLimits | undefined): boolean {
  return limits?.tokens !== undefined || limits?.costUsd !== undefined
}

function limitsMoney({ costUsd, session, day }: Budget): boolean {
  return costUsd !== undefined || session?.costUsd !== undefined || day?.costUsd !== undefined
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

const SHARED_KEYS: readonly string[] = ['tokens', 'costUsd']
const TURN_KEYS: readonly string[] = [...SHARED_KEYS, 'ms', 'session', 'day']

/** @throws ConfigurationError that names the key, what was expected and what came. */
export function checkBudget(budget: Budget): void {
  checkKeys('budget', budget, TURN_KEYS)
  if (budget.ms !== undefined && !(budget.ms >= 1 && Number.isFinite(budget.ms))) throw noLimit('budget.ms', 1, budget.ms)
  checkLimits('budget', budget)
  for (const scope of ['session', 'day'] as const) {
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
