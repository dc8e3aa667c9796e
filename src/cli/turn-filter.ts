/** Options of `logs list`, `logs search` and `logs tail` that say which turns are meant. */

import { ConfigurationError } from '../core/error.ts'
import type { ListTurns } from '../core/recorder.ts'
import type { OptionValues } from './command.ts'
import { defined } from '../util/check.ts'

export const TURN_FILTER = {
  status: {
    type: 'text',
    value: 'STATUS',
    about: 'only open, waiting, done, failed, cancelled or lost turns',
    choices: ['open', 'waiting', 'done', 'failed', 'cancelled', 'lost'],
  },
  model: { type: 'text', short: 'm', value: 'MODEL', about: 'only turns of this model' },
  session: { type: 'text', value: 'ID', about: 'only turns of this session' },
  since: { type: 'text', value: 'TIME', about: 'only turns since then: 2026-01-31, "2026-01-31 08:15", 90m, 12h, 3d, today' },
  until: { type: 'text', value: 'TIME', about: 'only turns before then' },
  bot: { type: 'text', value: 'BOT', about: 'only turns of a bot of this kind or name: QueryBot, chat' },
  rating: { type: 'text', value: 'RATING', about: 'only turns that were rated so: 1 to 5, up, down, or none' },
  tool: { type: 'text', value: 'NAME', about: 'only turns in which this tool ran' },
  user: { type: 'text', value: 'ID', about: 'only turns of this user' },
  tag: { type: 'texts', value: 'TAG', about: 'only turns with this tag; of several, with each of them' },
  slow: { type: 'flag', about: 'only slow turns: longer than 30 s, or "slowAfter" of the configuration' },
} as const

/**
 * What the options ask for.
 *
 * @param now epoch milliseconds, which `90m` and `today` are counted from.
 * @throws ConfigurationError for a time or a rating that is none.
 */
export function turnsMeant(options: OptionValues<typeof TURN_FILTER>, now: number): ListTurns {
  const { status, model, session, since, until, bot, rating, tool, user, tag, slow } = options
  return {
    ...(status === undefined ? {} : { status: status as NonNullable<ListTurns['status']> }),
    ...defined({ model, sessionId: session }),
    ...(since === undefined ? {} : { since: timeMeant(since, now) }),
    ...(until === undefined ? {} : { until: timeMeant(until, now) }),
    ...(bot === undefined ? {} : { bot }),
    ...(rating === undefined ? {} : { rating: readRating(rating) }),
    ...defined({ tool, userId: user }),
    ...(tag.length === 0 ? {} : { tags: tag }),
    ...(slow ? { slow } : {}),
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?))?$/

/** A time in words, in epoch milliseconds; a date without a zone is local. @throws ConfigurationError */
function timeMeant(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0)
  const midnight = new Date(now)
  midnight.setHours(0, 0, 0, 0)
  if (text === 'today') return midnight.getTime()
  if (text === 'yesterday') return midnight.setDate(midnight.getDate() - 1)
  const [, date, clock = '00:00'] = DATE.exec(text) ?? []
  const time = date === undefined ? Number.NaN : Date.parse(`${date}T${clock}`)
  if (!Number.isNaN(time)) return time
  throw new ConfigurationError(
    `A time is 2026-01-31, "2026-01-31 08:15", today, yesterday, or how long ago (90m, 12h, 3d, 2w), but got ${JSON.stringify(text.slice(0, 60))}.`,
  )
}

const WORDS: Readonly<Record<string, number | null>> = { up: 1, down: -1, none: null }

/**
 * A rating as it is typed: 1 to 5, `up` (1), `down` (-1), or `none` (`null`).
 *
 * @throws ConfigurationError for anything else.
 */
export function readRating(word: string): number | null {
  if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? null
  if (/^(-1|[1-5])$/.test(word)) return Number(word)
  throw new ConfigurationError(`A rating is 1 to 5, -1, up, down or none, but got ${JSON.stringify(word.slice(0, 60))}.`)
}
