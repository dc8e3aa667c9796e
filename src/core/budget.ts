/** Budgets: limits of a turn, session, day, user or tag, and the port to the store that counts shared use. */

import type { MaybePromise } from './maybe-promise.ts'

/** The limits of each scope. */
export interface BudgetLimits {
  /** Tokens of input and output together. */
  readonly tokens?: number
  /** US dollars. */
  readonly costUsd?: number
}

/** Limits of one turn, and of the accounts it shares with other turns. Absent: no limit. */
export interface Budget extends BudgetLimits {
  /** Milliseconds from the start of the turn. */
  readonly ms?: number
  /** All turns of the session together. */
  readonly session?: BudgetLimits
  /** All turns of the day (UTC) together that are written to the same journal; without a journal, those of this process. */
  readonly day?: BudgetLimits
  /** All turns of the turn's user on one day (UTC) together, shared as `day` is; needs `userId`. */
  readonly user?: BudgetLimits
  /** By tag: all turns of one day (UTC) that carry the tag together, shared as `day` is. Each key must be one of the turn's `tags`. */
  readonly tags?: Readonly<Record<string, BudgetLimits>>
}

/** Tokens and dollars together. */
export interface Amount {
  /** Input and output tokens. */
  readonly tokens: number
  /** US dollars. */
  readonly costUsd: number
}

export const NOTHING: Amount = { tokens: 0, costUsd: 0 }

/** The use of a budget so far. */
export interface BudgetUse {
  /** By requests that have ended. */
  readonly settled: Amount
  /** Set aside for requests under way. */
  readonly reserved: Amount
}

/** Amounts that are set aside for a request. */
export interface Reservation {
  /** Upper bound of what the request may use. */
  readonly most: Amount
  /** Counted as used if the process that holds the reservation dies; the rest becomes free again. */
  readonly least: Amount
}

/** Names the accounts that a turn uses. */
export interface BudgetKey {
  /** The turn that uses the budget. */
  readonly turnId: string
  /** Its session. */
  readonly sessionId: string
  /** `2026-01-31`, UTC. */
  readonly day: string
  /** Set if the user has a budget. */
  readonly userId?: string
  /** The tags that have a budget. */
  readonly tags?: readonly string[]
}

/** The use of all accounts that a turn shares with others. */
export interface SharedUse extends Readonly<Record<SharedScope, BudgetUse>> {
  /** Use of the day by the key's user; absent if the key names no user or the store does not count users. */
  readonly user?: BudgetUse
  /** Use of the day by each tag of the key. */
  readonly tags?: Readonly<Record<string, BudgetUse>>
}

const SHARED_SCOPES = ['session', 'day'] as const
/** A scope that several turns share. */
export type SharedScope = (typeof SHARED_SCOPES)[number]

/** Counts the use of sessions, days, users and tags. A turn has one reservation at a time. */
export interface BudgetStore {
  /**
   * Calls `plan` and reserves the amount it returns, atomically: two turns that share a budget never plan with the same remainder.
   * If `plan` throws, nothing is reserved and the error is rethrown. Reservations of dead processes are released first.
   *
   * @param plan pure and fast; called again if the store retries its transaction.
   */
  reserve(key: BudgetKey, plan: (used: SharedUse) => Reservation): MaybePromise<void>
  /** Replaces the turn's reservation with the actual use. */
  settle(key: BudgetKey, used: Amount): MaybePromise<void>
}

/** Returns the UTC day of a time, as budgets and statistics count it. */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10)
}
