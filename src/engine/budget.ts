/** The arithmetic of budgets: what a request may cost at most, and how much output is left for it. Nothing here knows who keeps the count. */

import type { Amount, Reservation } from '../core/budget.ts'
import type { ModelFacts, Price, Rates } from '../core/model.ts'
import { exceeded, isLimited } from './budget-exceeded.ts'
import type { Account } from './budget-exceeded.ts'
import { ratesFor } from './cost.ts'

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
const INPUT_MARGIN = 1.4
/** What providers put around a request and count as input: templates, instructions of their own. */
const INPUT_OVERHEAD = 64
/** Less output than this is not worth a request; OpenAI's Responses API refuses to be asked for less. */
const LEAST_OUTPUT = 16
/** No model whose output limit nobody knows is expected to say more. */
const ASSUMED_OUTPUT = 128_000
/** What a request that names no limit sets aside of a budget that others share: all of it would leave them nothing. */
const SHARED_OUTPUT = 16_384

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
