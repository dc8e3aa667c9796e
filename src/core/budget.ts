/** Budgets: what a turn, a session or a day may use, and the port to where that is kept for all who share it. */

import type { MaybePromise } from './maybe-promise.ts'

/** The limits of each scope. */
export interface BudgetLimits {
  /** Tokens of input and output together. */
  readonly tokens?: number
  /** US dollars. */
  readonly costUsd?: number
}

/** Limits of one turn, and of what it shares with others. Absent: no limit. */
export interface Budget extends BudgetLimits {
  /** Milliseconds from the start of the turn. */
  readonly ms?: number
  /** All turns of the session together. */
  readonly session?: BudgetLimits
  /** All turns of the day (UTC) together that are written to the same journal; without a journal, those of this process. */
  readonly day?: BudgetLimits
  /** All turns of the turn's user on one day (UTC) together, shared as `day` is; needs `userId`. */
  readonly user?: BudgetLimits
  /** By tag: all turns of one day (UTC) together that carry it, shared as `day` is; each must be one of the turn's `tags`. */
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
  /** Not to be exceeded by what the request comes to. */
  readonly most: Amount
  /** Counts as used when the owner of the reservation dies; the rest is then free again. */
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
  /** Given where the user has a budget. */
  readonly userId?: string
  /** Those that have a budget. */
  readonly tags?: readonly string[]
}

/** The use of all accounts that a turn shares with others. */
export interface SharedUse extends Readonly<Record<SharedScope, BudgetUse>> {
  /** Of the day, by the user of the key; absent where it names none, or the store keeps no users. */
  readonly user?: BudgetUse
  /** Of the day, by each tag of the key. */
  readonly tags?: Readonly<Record<string, BudgetUse>>
}

const SHARED_SCOPES = ['session', 'day'] as const
/** A scope that several turns share. */
export type SharedScope = (typeof SHARED_SCOPES)[number]

/** Keeps count of what sessions and days have used. A turn has one reservation at a time. */
export interface BudgetStore {
  /**
   * Asks `plan` what to set aside, and sets it aside before anybody else can ask: two who share a budget never see the same room. When
   * `plan` throws, nothing is set aside and the error is passed on. Reservations whose owner is dead are released before.
   *
   * @param plan pure and fast; it may be called again when the store has to try again.
   */
  reserve(key: BudgetKey, plan: (used: SharedUse) => Reservation): MaybePromise<void>
  /** Puts what was really used in the place of the turn's reservation. */
  settle(key: BudgetKey, used: Amount): MaybePromise<void>
}

/** The day of a time, as budgets and statistics count it. */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10)
}
