/** Checks the rules that every journal applies to its callers, and makes the errors for them. */

import { ConfigurationError, CriaError } from '../core/error.ts'
import type { EventStamp, QueryEvent } from '../core/event.ts'
import type { PromptVersion } from '../core/prompt.ts'
import { RATINGS } from '../core/recorder.ts'
import type { TurnClose, TurnOpen } from '../core/recorder.ts'

export const DEFAULT_LEASE_MS = 60_000
/** Default number of rows in a list. */
export const DEFAULT_LIMIT = 50

const STATE_AFTER: Readonly<Partial<Record<QueryEvent['type'], TurnClose['state']>>> = {
  complete: 'done',
  cancelled: 'cancelled',
  error: 'failed',
}

/** Checks that events are recorded in order, and that the terminal event closes the turn. @param nextSeq of the first event. */
export function checkEvents(
  { turnId, sessionId }: Pick<EventStamp, 'turnId' | 'sessionId'>,
  nextSeq: number,
  events: readonly QueryEvent[],
  close?: TurnClose,
): void {
  for (const [index, event] of events.entries()) {
    if (event.seq !== nextSeq + index || event.turnId !== turnId || event.sessionId !== sessionId)
      throw misuse(
        `Expected event ${nextSeq + index} of turn ${turnId} in session ${sessionId}, received event ${event.seq} of turn ${event.turnId} in session ${event.sessionId}.`,
      )
    const state = STATE_AFTER[event.type]
    if (close === undefined && state !== undefined)
      throw misuse(`The terminal event "${event.type}" of turn ${turnId} was recorded: it belongs to closeTurn.`)
    if (close !== undefined && state !== close.state)
      throw misuse(`Turn ${turnId} cannot end as "${close.state}" with the event "${event.type}".`)
  }
}

/** @throws ConfigurationError for a value that is not a rating. */
export function checkRating(rating: number | null): void {
  if (rating !== null && !RATINGS.has(rating))
    throw new ConfigurationError(`A rating is 1 to 5, or -1 and 1 for thumbs down and up, or null, but is ${rating}.`)
}

/** Returns the length of a list. @throws ConfigurationError for an invalid limit. */
export function limitOf(limit: number = DEFAULT_LIMIT): number {
  if (Number.isSafeInteger(limit) && limit > 0) return limit
  throw new ConfigurationError(`limit must be a whole number of at least 1, but is ${String(limit)}.`)
}

/** Parses a cursor: the number of the turn before which a list begins. @throws ConfigurationError for an invalid cursor. */
export function numberOf(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw new ConfigurationError(
    `cursor must be the nextCursor of an earlier list, but is ${JSON.stringify(cursor.slice(0, 100))}.`,
  )
}

/** Returns the prompt versions of a turn. Where it names none, its system prompt counts as a prompt with the name of the bot. */
export function promptsMadeWith({ bot, prompts, promptHash }: TurnOpen): readonly (Omit<PromptVersion, 'template'> & {
  readonly template?: string
})[] {
  if (prompts !== undefined) return prompts
  return promptHash === null ? [] : [{ name: bot?.name ?? bot?.kind ?? 'query', hash: promptHash }]
}

/** Makes the error for a turn that this recorder does not hold. */
export function notHeld(turnId: string, state: string | undefined): CriaError {
  return state === 'lost' ? lostTurn(turnId) : misuse(`Turn ${turnId} is not open in this recorder.`)
}

/** Makes the error for the owner of a turn whose lease has run out. */
export function lostTurn(turnId: string): CriaError {
  return new CriaError('turn_lost', `Turn ${turnId} was ended as lost: its lease had run out before this was written.`)
}

/** Makes the error for a user who names a session of another user. */
export function foreignSession(sessionId: string, userId: string): CriaError {
  return new CriaError('permission_denied', `Session ${sessionId} belongs to another user than ${JSON.stringify(userId)}.`, {
    hint: 'Leave `sessionId` out to begin a session, or name the user that the session belongs to.',
    details: { sessionId, userId },
  })
}

/** Makes the error for a second exclusive turn. @param turnId the running turn. */
export function busySession(sessionId: string, turnId: string): CriaError {
  return new CriaError('session_busy', `Session ${sessionId} is busy: its turn ${turnId} is still running.`, {
    details: { sessionId, turnId },
  })
}

/** Makes the error for a decision about a turn that does not wait for one. */
export function notWaiting(sessionId: string, turnId: string): CriaError {
  return new CriaError('not_found', `Turn ${turnId} does not wait for a decision in session ${sessionId}, or no longer.`, {
    hint: 'It may have been decided already, or its session has continued without it.',
    details: { turnId, sessionId },
  })
}

function misuse(message: string): CriaError {
  return new CriaError('internal', message)
}
