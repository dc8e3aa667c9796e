/** Keeps the journal within its own limits, without being asked: a little each day, and not because a clock is wrong. */

import type { GcOptions, GcReport } from '../../core/recorder.ts'
import { isMuchFree } from '../../util/sqlite/vacuum.ts'
import { cleanUp, giveBack } from './gc.ts'
import type { CleanUp } from './gc.ts'
import type { Journal } from './journal.ts'

const DAY_MS = 86_400_000
/** Limits that hold unless others are given. */
const MAX_AGE_MS = 365 * DAY_MS
const MAX_BYTES = 2 ** 30
/** Of the turns, what goes in one day at most without being asked for, but at least some. */
const MOST_SHARE = 0.02
const LEAST_TURNS = 20
/** Days with turns that have to lie behind the time from which age is counted: a clock that is wrong makes one a day at most. */
const AGREEING_DAYS = 4

/** @returns what was removed; `undefined` when nothing was. */
export async function tend(journal: Journal, signal?: AbortSignal): Promise<GcReport | undefined> {
  const { connection } = journal
  const now = journal.now()
  if (connection.readOnly) return undefined
  // A long answer leaves its deltas as free room.
  if (isMuchFree(connection)) await giveBack(connection, signal)
  if (!isDue(journal, now) || !claim(journal, now)) return undefined
  const turns = connection.get<{ n: number | null }>(`SELECT sum(turns) AS n FROM use_sums WHERE scope = 'day'`)?.n ?? 0
  const report = await cleanUp(journal, {
    ...limitsOf({}, journal),
    most: Math.max(LEAST_TURNS, Math.floor(turns * MOST_SHARE)),
    isAsked: false,
    signal,
  })
  return report.turns === 0 ? undefined : report
}

/** Limits of a clean-up; an age that was asked for counts from now, whatever the clock says. */
export function limitsOf(
  { maxAgeMs, maxBytes = MAX_BYTES }: GcOptions,
  { connection, now }: Journal,
): Pick<CleanUp, 'before' | 'maxBytes'> {
  if (maxAgeMs !== undefined) return { before: now() - maxAgeMs, maxBytes }
  const days = connection.all<{ day: string }>(
    `SELECT DISTINCT name AS day FROM use_sums WHERE scope = 'day' ORDER BY name DESC LIMIT ?`,
    [AGREEING_DAYS],
  )
  return {
    before:
      trustedTime(
        now(),
        days.map(({ day }) => day),
      ) - MAX_AGE_MS,
    maxBytes,
  }
}

/**
 * The time from which age is counted: no later than the clock, and no later than the fourth-newest day on which there were turns, so that a
 * clock which is wrong for three days removes nothing. Where there are fewer days than that, nothing is old.
 *
 * @param days with turns (`2026-01-31`, UTC), the newest first.
 */
export function trustedTime(now: number, days: readonly string[]): number {
  const time = Date.parse(days[AGREEING_DAYS - 1] ?? '')
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : Math.min(now, time)
}

function isDue({ connection }: Journal, now: number): boolean {
  const last = connection.get<{ at: number }>('SELECT tended_at AS at FROM upkeep')?.at
  // A clock that was ahead when it last happened must not put it off for years.
  return last === undefined || Math.abs(now - last) >= DAY_MS
}

/** Two processes that see the same day begin: only one of them does the work. A lock means that the other writes; tomorrow is another day. */
function claim({ connection }: Journal, now: number): boolean {
  try {
    return (
      connection.run(
        `INSERT INTO upkeep (id, tended_at) VALUES (1, ?)
         ON CONFLICT DO UPDATE SET tended_at = excluded.tended_at WHERE abs(excluded.tended_at - tended_at) >= ${DAY_MS}`,
        [now],
      ) > 0
    )
  } catch {
    return false
  }
}
