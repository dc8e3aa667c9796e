/** Prices model calls, and plans requests within budgets: the output that is left for them, or the error if the budget is used up. */

import type { Amount, Budget, Reservation, BudgetLimits, BudgetUse } from '../../core/budget.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { LanguageModel, ModelFacts, Price, Rates } from '../../core/model.ts'
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
function ratesFor(inputTokens: number, { tiers, ...base }: Price): Rates {
  return tiers?.findLast(({ above }) => inputTokens > above) ?? base
}

/** How code states a price or drops the budget, besides config.json. */
const IN_CODE = ', or createModel(name, { facts: { price: { input: 1, output: 2 } } }). Or leave the budget out.'

/**
 * Checks that the price of every model is known, which a limit in money requires.
 *
 * @param otherwise the end of the hint, after "… in config.json".
 * @throws ConfigurationError that names the model and how to configure its price.
 */
export function checkPrices(budget: Budget, models: readonly LanguageModel[], otherwise: string = IN_CODE): void {
  if (!limitsMoney(budget)) return
  for (const { ref, facts } of models) {
    if ((facts.price ?? undefined) !== undefined) continue
    throw new ConfigurationError(`A budget in US dollars cannot be kept with ${ref}: its price is not known.`, {
      hint: `State what it costs, in dollars for a million tokens: {"modelFacts": {"${ref}": {"price": {"input": 1, "output": 2}}}} in config.json${otherwise}`,
    })
  }
}

function limitsMoney({ tags, ...limits }: Budget): boolean {
  return [limits, limits.session, limits.day, limits.user, ...Object.values(tags ?? {})].some((one) => one?.costUsd !== undefined)
}

/** The facts of a request that budgets depend on. */
export interface Demand {
  /** Estimated input tokens. */
  readonly inputTokens: number
  /** The limit of the caller; `undefined`: the model's limit. */
  readonly maxOutputTokens: number | undefined
  readonly facts: Pick<ModelFacts, 'maxOutputTokens' | 'contextWindow'>
  /** `undefined`: unknown, which matters only if money is limited. */
  readonly price: Price | undefined
}

export interface Plan extends Reservation {
  /** The output limit for the request; `undefined`: unchanged. */
  readonly maxOutputTokens: number | undefined
}

/** Safety factor for input estimates: code and some scripts take 2.5 bytes per token, not 3.5, and input cannot be limited afterwards. */
const INPUT_MARGIN = 1.4
/** Tokens that providers add to a request and count as input: templates and their own instructions. */
const INPUT_OVERHEAD = 64
/** Minimum output tokens of a request; OpenAI's Responses API rejects a smaller limit. */
const LEAST_OUTPUT = 16
/** Assumed maximum output tokens of a model whose limit is unknown. */
const ASSUMED_OUTPUT = 128_000
/** Output tokens reserved in a shared budget for a request without a limit; reserving the whole rest would block the others. */
const SHARED_OUTPUT = 16_384

/** Tolerance in US dollars: sums of fractions are not exact. */
const ROUNDING = 1e-8

/**
 * Plans the reservation of a request so that no account can be overdrawn.
 *
 * @throws CriaError `budget_exceeded` if an account has no room for the input and the minimum output.
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

/** Returns the maximum cost of these tokens. Input that is written to a provider's cache may cost more than other input. */
function amountOf(inputTokens: number, outputTokens: number, price: Price | undefined): Amount {
  const { input, output } = dearest(inputTokens, price)
  return { tokens: inputTokens + outputTokens, costUsd: (inputTokens * input + outputTokens * output) / 1_000_000 }
}

function dearest(inputTokens: number, price: Price | undefined): Pick<Rates, 'input' | 'output'> {
  if (price === undefined) return { input: 0, output: 0 }
  const { input, output, cacheWrite = 0, cacheWrite1h = 0 } = ratesFor(inputTokens, price)
  return { input: Math.max(input, cacheWrite, cacheWrite1h), output }
}

function outputBound(demand: Demand, input: number, accounts: readonly Account[]): number {
  const own = ownBound(demand.facts, input)
  if (demand.maxOutputTokens !== undefined) return Math.min(demand.maxOutputTokens, own)
  const isShared = accounts.some(({ scope, limits }) => scope !== 'turn' && isLimited(limits))
  return isShared ? Math.min(SHARED_OUTPUT, own) : own
}

/** Returns the maximum output of the model. An input that seems to fill the window is left for the provider to refuse. */
function ownBound({ maxOutputTokens, contextWindow }: Demand['facts'], input: number): number {
  const window = Math.max(LEAST_OUTPUT, (contextWindow ?? Infinity) - input)
  return Math.min(maxOutputTokens ?? ASSUMED_OUTPUT, window)
}

/** Returns the output tokens that an account has room for after the input; negative if the input does not fit. */
function outputRoom(kind: keyof Amount, account: Account, input: number, price: Price | undefined): number {
  const limit = account.limits[kind]
  if (limit === undefined) return Infinity
  const left = limit - account.settled[kind] - account.reserved[kind]
  if (kind === 'tokens') return Math.floor(left - input)
  const rate = dearest(input, price)
  const afterInput = left - (input * rate.input) / 1_000_000 + ROUNDING
  // A model that costs nothing always fits.
  if (rate.input === 0 && rate.output === 0) return Infinity
  if (afterInput < 0) return -1
  return rate.output === 0 ? Infinity : Math.floor((afterInput * 1_000_000) / rate.output)
}

function whose({ scope, name }: Pick<Account, 'scope' | 'name'>): string {
  const mark: Readonly<Record<BudgetScope, string>> = {
    turn: 'this turn',
    session: 'this session',
    day: 'today (UTC)',
    batch: 'these turns together',
    user: `user ${JSON.stringify(name)} for today (UTC)`,
    tag: `tag ${JSON.stringify(name)} for today (UTC)`,
  }
  return mark[scope]
}

/** Makes the error for a request that an account has no room for. @param needed its minimum. */
export function exceeded(kind: keyof Amount, account: Account, needed: number): CriaError {
  const { scope, name, limits, settled, reserved } = account
  const limit = limits[kind] ?? 0
  const waiting = reserved[kind] > 0 ? `, ${inWords(kind, reserved[kind])} reserved for requests in flight` : ''
  return new CriaError(
    'budget_exceeded',
    `The budget of ${whose(account)} is ${inWords(kind, limit)}: ${inWords(kind, settled[kind])} used so far${waiting}; the next ` +
      `request needs at least ${inWords(kind, needed)}. It was not made.`,
    {
      // A reservation that is not used up becomes free when its request ends.
      retryable: reserved[kind] > 0,
      details: {
        kind,
        scope,
        ...(name === undefined ? {} : { name }),
        limit,
        used: settled[kind],
        reserved: reserved[kind],
        needed,
      },
    },
  )
}

/** Makes the error for a turn or batch that has used up its time. */
export function timeExceeded(limit: number, scope: 'turn' | 'batch' = 'turn'): CriaError {
  const ended = scope === 'turn' ? 'the turn was' : 'those that ran were'
  return new CriaError(
    'budget_exceeded',
    `The budget of ${whose({ scope })} is ${limit} ms: the time is used up, and ${ended} ended.`,
    {
      details: { kind: 'ms', scope, limit, used: limit },
    },
  )
}

function inWords(kind: keyof Amount, value: number): string {
  if (kind === 'tokens') return `${value} tokens`
  if (value === 0 || value >= 1) return `$${value.toFixed(2)}`
  return `$${value.toLocaleString('en', { maximumSignificantDigits: 2 })}`
}

/** `batch`: turns that `mapTurns` makes. */
export type BudgetScope = 'turn' | 'session' | 'day' | 'user' | 'tag' | 'batch'

/** A budget and its use so far. */
export interface Account extends BudgetUse {
  readonly scope: BudgetScope
  readonly limits: BudgetLimits
  /** Name of the user or the tag. */
  readonly name?: string
}

export function isLimited(limits: BudgetLimits | undefined): boolean {
  return limits?.tokens !== undefined || limits?.costUsd !== undefined
}
