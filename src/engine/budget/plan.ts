/** Plans requests within budgets: what one may cost at most, how much output is left for it, and the error where nothing is. */

import type { Amount, Reservation, BudgetLimits, BudgetUse } from '../../core/budget.ts'
import { CriaError } from '../../core/error.ts'
import type { ModelFacts, Price, Rates } from '../../core/model.ts'
import { ratesFor } from './cost.ts'

/** A request, as far as budgets are concerned. */
export interface Demand {
  /** Estimate. */
  readonly inputTokens: number
  /** The limit of the caller; `undefined`: whatever the model gives. */
  readonly maxOutputTokens: number | undefined
  readonly facts: Pick<ModelFacts, 'maxOutputTokens' | 'contextWindow'>
  /** `undefined`: unknown, which only matters where money is limited. */
  readonly price: Price | undefined
}

export interface Plan extends Reservation {
  /** The limit that the request gets; `undefined`: as it is. */
  readonly maxOutputTokens: number | undefined
}

/** Estimates go wrong, and the size of an input cannot be limited afterwards: code and some scripts take 2.5 bytes a token, not 3.5. */
const INPUT_MARGIN = 1.4
/** Tokens that providers add to a request and count as input: templates, instructions of their own. */
const INPUT_OVERHEAD = 64
/** Less output than this is not worth a request; OpenAI's Responses API refuses to be asked for less. */
const LEAST_OUTPUT = 16
/** No model whose output limit nobody knows is expected to say more. */
const ASSUMED_OUTPUT = 128_000
/** Output set aside for a request without a limit, of a budget that others share: all of it would leave them nothing. */
const SHARED_OUTPUT = 16_384

/** Sums of fractions are not exact; a millionth of a cent is nobody's loss. */
const ROUNDING = 1e-8

/**
 * Plans how much to set aside for a request so that no account can be overdrawn.
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

/** The most that so many tokens can cost. Input that a provider puts into its cache may cost more than other input. */
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

/** The most output of the model. An input that seems to fill the window is left for the provider to refuse. */
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

/** A request that an account has no room for. @param needed what it takes at the least. */
export function exceeded(kind: keyof Amount, account: Account, needed: number): CriaError {
  const { scope, name, limits, settled, reserved } = account
  const limit = limits[kind] ?? 0
  const waiting = reserved[kind] > 0 ? `, ${inWords(kind, reserved[kind])} set aside for requests under way` : ''
  return new CriaError(
    'budget_exceeded',
    `The budget of ${whose(account)} is ${inWords(kind, limit)}: ${inWords(kind, settled[kind])} used so far${waiting}; the next ` +
      `request needs at least ${inWords(kind, needed)}. It was not made.`,
    {
      // An amount that is set aside and not used is free again when its request ends.
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

/** The turn, or the batch, has used up its time. */
export function timeExceeded(limit: number, scope: 'turn' | 'batch' = 'turn'): CriaError {
  const ended = scope === 'turn' ? 'the turn was' : 'those that ran were'
  return new CriaError(
    'budget_exceeded',
    `The budget of ${whose({ scope })} is ${limit} ms: they are over, and ${ended} ended.`,
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

/** A budget and what has been used of it. */
export interface Account extends BudgetUse {
  readonly scope: BudgetScope
  readonly limits: BudgetLimits
  /** Of the user or the tag. */
  readonly name?: string
}

export function isLimited(limits: BudgetLimits | undefined): boolean {
  return limits?.tokens !== undefined || limits?.costUsd !== undefined
}
