/** `cria logs list`, `search` and `tail`: print turns as a table, filtered by the same options. */

import { setTimeout as sleep } from 'node:timers/promises'
import { openJournalToRead } from '../../app/journal.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { ListTurns, TurnList, TurnSummary } from '../../core/recorder.ts'
import { defined } from '../../util/check.ts'
import { defineCommand } from '../command.ts'
import type { Command, OptionValues } from '../command.ts'
import { formatCost, formatMs, formatTime, quoted, shorten, table, tableOver } from '../format.ts'
import { note, printJson, roomOf } from '../io.ts'
import type { Io } from '../io.ts'

/** Options that filter turns. */
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
  rating: { type: 'text', value: 'RATING', about: 'only turns with this rating: 1 to 5, up, down, or none' },
  tool: { type: 'text', value: 'NAME', about: 'only turns in which this tool ran' },
  user: { type: 'text', value: 'ID', about: 'only turns of this user' },
  tag: { type: 'texts', value: 'TAG', about: 'only turns with this tag; several tags must all be present' },
  slow: { type: 'flag', about: 'only turns slower than 30 s, or than "slowAfter" in config.json' },
} as const

const LIST_OPTIONS = {
  limit: { type: 'integer', short: 'n', value: 'N', about: 'maximum number of turns', default: 20, min: 1, max: 100_000 },
  ...TURN_FILTER,
  cursor: { type: 'text', value: 'CURSOR', about: 'continue a list at its "nextCursor"' },
  json: { type: 'flag', about: 'print one JSON object' },
} as const

export const logsList: Command = defineCommand({
  name: 'logs list',
  options: LIST_OPTIONS,
  examples: [
    'cria logs list -n 5',
    'cria logs list --since today --slow',
    'cria logs list --tool run_command --status failed --json',
  ],
  run: ({ options }, io) => list(io, options),
})

export const logsSearch: Command = defineCommand({
  name: 'logs search',
  arguments: [
    {
      name: 'words',
      about: 'words in the question, the answer, or one tool call (name and arguments); there are no operators',
      many: true,
    },
  ],
  options: LIST_OPTIONS,
  examples: [
    'cria logs search compaction',
    'cria logs search "npm test" --since 3d --tool run_command',
    'cria logs search "index size" --json',
  ],
  run: ({ arguments: words, options }, io) => list(io, options, words.join(' ')),
})

async function list(io: Io, options: OptionValues<typeof LIST_OPTIONS>, search?: string): Promise<void> {
  const { limit, cursor, json } = options
  const journal = await openJournalToRead(io)
  const meant = { ...turnsMeant(options, Date.now()), limit, ...defined({ cursor, search }) }
  const found: TurnList = (await journal?.read.turns(meant)) ?? { turns: [], nextCursor: null }
  for (const what of found.damaged ?? []) await note(io, `not shown: ${what}.`)
  if (json) return printJson(io, found)
  if (found.turns.length === 0) return note(io, 'no turns were found.')
  await io.stdout.writeRaw(turnTable(found.turns, roomOf(io.stdout)))
  if (found.nextCursor !== null) await note(io, `there are more: continue with --cursor ${found.nextCursor}`)
}

const POLL_MS = 500
/** Newest turns read per poll; the end of an older turn is not shown. */
const MOST_WATCHED = 200

export const logsTail: Command = defineCommand({
  name: 'logs tail',
  options: {
    last: {
      type: 'integer',
      short: 'n',
      value: 'N',
      about: 'recent turns to show first',
      default: 10,
      min: 0,
      max: MOST_WATCHED,
    },
    ...TURN_FILTER,
    json: { type: 'flag', about: 'print one JSON object per line' },
  },
  details: 'Shows each turn once, when it ends, from every process that writes to the journal. Ctrl-C stops it.',
  examples: ['cria logs tail', 'cria logs tail -n 0 --tool run_command', 'cria logs tail --status failed --json'],
  async run({ options }, io) {
    const meant = { ...turnsMeant(options, Date.now()), limit: MOST_WATCHED }
    const shown = new Set<string>()
    for (let most = options.last; !io.signal.aborted; most = MOST_WATCHED) {
      // The journal may not exist yet.
      const found = await (await openJournalToRead(io))?.read.turns(meant)
      const ended = (found?.turns ?? []).filter(({ turnId, status }) => status !== 'open' && !shown.has(turnId))
      for (const { turnId } of ended) shown.add(turnId)
      const news = ended.slice(0, most).toReversed()
      if (options.json) for (const turn of news) await printJson(io, turn)
      else if (news.length > 0) await io.stdout.writeRaw(turnTable(news, roomOf(io.stdout)))
      await sleep(POLL_MS, undefined, { signal: io.signal }).catch(() => undefined)
    }
  },
})

/** Right-aligned columns: times and costs. */
const RIGHT = [3, 4]
const GAP = 2
const INDENT = 4
/** Below this width, a question gets its own line. */
const USUAL_COLUMNS = 80
const LEAST_QUESTION = 20
const LONGEST_QUESTION = 200

/** Prints one line per turn; on narrow terminals, model, question and other facts that do not fit go below it. */
export function turnTable(turns: readonly TurnSummary[], columns: number): string {
  const isRated = turns.some(({ rating }) => rating !== null)
  const rows = turns.map((turn) => ({
    facts: [
      turn.turnId,
      formatTime(turn.startedAt),
      turn.status,
      formatMs(turn.latencyMs),
      formatCost(turn.costUsd),
      ...(isRated ? [turn.rating === null ? '–' : `rated ${turn.rating}`] : []),
    ],
    model: shorten(turn.model, 40),
    question: turn.question,
  }))
  const factsWidth = widest(table(rows.map(({ facts }) => facts)).split('\n'))
  const taken = factsWidth + GAP + widest(rows.map(({ model }) => model)) + GAP
  if (taken + LEAST_QUESTION <= columns) {
    const room = Math.min(LONGEST_QUESTION, columns - taken)
    return table(
      rows.map(({ facts, model, question }) => [...facts, model, shorten(question, room)]),
      RIGHT,
    )
  }
  // Ids are not wrapped, so that they can be copied.
  const isTiny = factsWidth > columns
  const room = Math.max(LEAST_QUESTION, columns - INDENT)
  const below = rows.map(({ facts, model, question }) => {
    const rest = [...(isTiny ? facts.slice(2) : []), model].join('  ')
    const texts = isTiny && columns < USUAL_COLUMNS ? [rest, question] : [`${rest}  ${question}`]
    return texts.map((text) => `${' '.repeat(INDENT)}${shorten(text, room)}`)
  })
  return tableOver(isTiny ? rows.map(({ facts }) => facts.slice(0, 2)) : rows.map(({ facts }) => facts), below, RIGHT)
}

function widest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => line.length))
}

/**
 * Converts the filter options to a query of the journal.
 *
 * @param now epoch milliseconds that `90m` and `today` are relative to.
 * @throws ConfigurationError for an invalid time or rating.
 */
function turnsMeant(options: OptionValues<typeof TURN_FILTER>, now: number): ListTurns {
  const { status, model, session, since, until, bot, rating, tool, user, tag, slow } = options
  return {
    ...defined({ status, model, sessionId: session, bot, tool, userId: user }),
    ...(since === undefined ? {} : { since: timeMeant(since, now) }),
    ...(until === undefined ? {} : { until: timeMeant(until, now) }),
    ...(rating === undefined ? {} : { rating: readRating(rating) }),
    ...(tag.length === 0 ? {} : { tags: tag }),
    ...(slow ? { slow } : {}),
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?))?$/

/** Parses a time into epoch milliseconds; a date without a zone is local. @throws ConfigurationError */
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
    `A time is 2026-01-31, "2026-01-31 08:15", today, yesterday, or how long ago (90m, 12h, 3d, 2w), but got ${quoted(text)}.`,
  )
}

const WORDS: Readonly<Record<string, number | null>> = { up: 1, down: -1, none: null }

/**
 * Parses a rating: 1 to 5, `up` (1), `down` (-1), or `none` (`null`).
 *
 * @throws ConfigurationError for anything else.
 */
export function readRating(word: string): number | null {
  if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? null
  if (/^(-1|[1-5])$/.test(word)) return Number(word)
  throw new ConfigurationError(`A rating is 1 to 5, -1, up, down or none, but got ${quoted(word)}.`)
}
