/** `cria logs stats`, `export` and `gc`: summarise, export and prune the journal. */

import { exportTurns, openJournalIfThere, openJournalToRead } from '../../app/journal.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { JournalReader, SessionStats, StatsRow, StatsSums } from '../../core/recorder.ts'
import { preferencePairs, preferenceStats } from '../../eval/port.ts'
import type { PositionBias, PreferenceStats, WinRate } from '../../eval/port.ts'
import { defined } from '../../util/check.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../failure.ts'
import { formatBytes, formatCost, formatTime, plural, printTable, shorten } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'
import { TURN_FILTER } from './logs-list.ts'

const VIEWS = ['day', 'model', 'session', 'user', 'tag'] as const

export const logsStats: Command = defineCommand({
  name: 'logs stats',
  options: {
    by: { type: 'text', value: 'VIEW', about: `group the table by ${VIEWS.join(', ')}`, default: 'day', choices: VIEWS },
    user: TURN_FILTER.user,
    tag: TURN_FILTER.tag,
    preferences: { type: 'flag', about: 'win rates from choices between two answers (cria compare)' },
    json: jsonOption('{ days: [{ day, model, turns, … }], models: […], sessions: […], total }'),
  },
  details: `With --preferences the table shows how often each model and system prompt was preferred, with 95 % Wilson intervals, and
whether the answer shown first was chosen more often than by chance. Days are in UTC; only the last 50 sessions are shown. Unknown usage
is counted separately and left out of the sums. A turn that called several models counts once, for the model that answered; tokens and cost count for each.`,
  examples: ['cria logs stats', 'cria logs stats --by model', 'cria logs stats --preferences', 'cria logs stats --json'],
  async run({ options }, io) {
    const { by, user, tag, json } = options
    const journal = await openJournalToRead(io)
    if (options.preferences) return printPreferences(journal?.read, json, io)
    const filter = { ...defined({ userId: user }), ...(tag.length === 0 ? {} : { tags: tag }) }
    const days = (await journal?.stats(filter)) ?? []
    const models = byModel(days)
    const total = sum(days)
    const sessions = async (): Promise<readonly SessionStats[]> => (await journal?.sessionStats(undefined, filter)) ?? []
    if (json) return printJson(io, { days, models, sessions: await sessions(), total })
    if (journal === undefined || days.length === 0) return note(io, 'no turns are recorded yet.')

    const show = (names: readonly string[], rows: readonly (readonly string[])[]): Promise<void> => {
      const right = COLUMNS.map((_, index) => names.length + index)
      return printTable(io, [[...names, ...COLUMNS], ...rows], right)
    }
    if (by === 'session') {
      const rows = (await sessions()).map((row) => [row.sessionId, formatTime(row.lastTurnAt), ...cells(row)])
      return show(['session', 'last turn'], rows)
    }
    if (by === 'user')
      return show(
        ['user'],
        (await journal.userStats()).map((row) => [shorten(row.userId, 60), ...cells(row)]),
      )
    if (by === 'tag')
      return show(
        ['tag'],
        (await journal.tagStats()).map((row) => [shorten(row.tag, 60), ...cells(row)]),
      )
    if (by === 'model')
      return show(['model'], [...models.map((row) => [shorten(row.model, 60), ...cells(row)]), ['total', ...cells(total)]])
    const rows = days.map((row) => [row.day, shorten(row.model, 40), ...cells(row)])
    await show(['day', 'model'], [...rows, ['total', '', ...cells(total)]])
  },
})

const COLUMNS = ['turns', 'unfinished', 'tokens in', 'tokens out', 'cost']

function cells(row: StatsSums): readonly string[] {
  const tokens = (value: number): string => (row.unknownUsage === 0 ? String(value) : `${value} + unknown`)
  return [String(row.turns), String(row.unfinished), tokens(row.inputTokens), tokens(row.outputTokens), costOf(row)]
}

/** Formats a cost sum with unknown parts; a dash if no cost above zero is known. */
function costOf({ costUsd, unknownCost }: { readonly costUsd: number; readonly unknownCost: number }): string {
  if (unknownCost === 0) return formatCost(costUsd)
  return costUsd === 0 ? formatCost(null) : `${formatCost(costUsd)} + unknown`
}

/** Sums the rows by model, highest cost first. */
function byModel(days: readonly StatsRow[]): readonly (StatsSums & { readonly model: string })[] {
  return [...Map.groupBy(days, ({ model }) => model)]
    .map(([model, rows]) => ({ model, ...sum(rows) }))
    .toSorted((one, other) => other.costUsd - one.costUsd || other.turns - one.turns)
}

function sum(rows: readonly StatsSums[]): StatsSums {
  const total = { turns: 0, unfinished: 0, inputTokens: 0, outputTokens: 0, unknownUsage: 0, costUsd: 0, unknownCost: 0 }
  for (const row of rows) for (const key of Object.keys(total) as (keyof StatsSums)[]) total[key] += row[key]
  return total
}

/** Below this p-value the position of an answer is assumed to influence choices. */
const BIASED = 0.05

async function printPreferences(read: JournalReader | undefined, isJson: boolean, io: Io): Promise<void> {
  const stats = read === undefined ? NONE : await preferenceStats(read)
  if (isJson) return printJson(io, stats)
  const { choices, ties, bothBad, models, position, missing } = stats
  if (choices === 0) return note(io, 'no choices are recorded yet: "cria compare" records them.')
  const names = ['model', 'prompt', 'wins', 'losses', 'ties', 'both bad', 'win rate', '95 %']
  if (models.length > 0) await printTable(io, [names, ...models.map(preferenceCells)], NUMBERS)
  await note(io, `${plural(choices, 'choice')}, ${plural(ties, 'tie')}, ${bothBad} where neither would do.`)
  if (position.choices > 0) await note(io, positionNote(position))
  if (missing > 0) await note(io, `of ${plural(missing, 'choice')} the turns are no longer in the journal.`)
}

const NUMBERS = [2, 3, 4, 5, 6, 7]
const NONE: PreferenceStats = {
  choices: 0,
  ties: 0,
  bothBad: 0,
  models: [],
  position: { choices: 0, firstChosen: 0, share: null, interval: null, p: 1 },
  missing: 0,
}

function preferenceCells({ model, promptHash, wins, losses, ties, bothBad, winRate, interval }: WinRate): readonly string[] {
  return [
    shorten(model, 40),
    promptHash?.slice(0, 8) ?? '–',
    ...[wins, losses, ties, bothBad].map(String),
    winRate === null ? '–' : percent(winRate),
    interval === null ? '–' : `${percent(interval[0])} to ${percent(interval[1])}`,
  ]
}

function positionNote({ choices, firstChosen, share, interval, p }: PositionBias): string {
  const range = interval === null ? '' : ` (95 %: ${percent(interval[0])} to ${percent(interval[1])})`
  const chance = `p = ${p < 0.001 ? '< 0.001' : p.toFixed(3)}`.replace('= <', '<')
  const verdict = p < BIASED ? 'the position seems to decide: read the win rates with care' : 'no sign that the position decides'
  return `shown first and chosen: ${firstChosen} of ${choices}, ${percent(share ?? 0)}${range}, ${chance}; ${verdict}.`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

export const logsExport: Command = defineCommand({
  name: 'logs export',
  options: {
    limit: { type: 'integer', short: 'n', value: 'N', about: 'maximum number of turns', default: 'all', min: 1 },
    session: { type: 'text', value: 'ID', about: 'only turns of this session' },
    model: { type: 'text', short: 'm', value: 'MODEL', about: 'only turns of this model' },
    preferences: { type: 'flag', about: 'choices between two answers as pairs: { prompt, chosen, rejected, … }, oldest first' },
  },
  details: `Writes one turn per line as \`cria logs show --json\` prints it, newest first. Damaged turns are left out and named on
standard error; the exit code is then 1. With --preferences each line is one choice between two answers, in the conversational
format that trainers read; ties are left out.`,
  examples: ['cria logs export > turns.jsonl', 'cria logs export --preferences > pairs.jsonl'],
  async run({ options: { limit, session, model, preferences } }, io) {
    if (preferences && (session !== undefined || model !== undefined))
      throw new ConfigurationError('--preferences exports choices, not turns: leave --session and --model out.')
    const journal = await openJournalToRead(io)
    if (journal === undefined) return EXIT.done
    if (preferences) {
      await exportPreferences(journal.read, limit ?? Infinity, io)
      return EXIT.done
    }
    const damaged: string[] = []
    const turns = exportTurns(journal.read, {
      onDamage: (what) => damaged.push(what),
      ...defined({ limit, sessionId: session, model }),
    })
    for await (const piece of turns) {
      await io.stdout.write(piece)
      if (io.signal.aborted) break
    }
    for (const what of damaged) await note(io, `not exported: ${what}.`)
    return damaged.length === 0 ? EXIT.done : EXIT.failed
  },
})

async function exportPreferences(read: JournalReader, limit: number, io: Io): Promise<void> {
  const pairs = preferencePairs(read)
  for (let written = 0; written < limit && !io.signal.aborted; written++) {
    const next = await pairs.next()
    if (next.done === true) {
      const { missing } = next.value
      if (missing > 0) await note(io, `left out ${plural(missing, 'choice')} whose turns are no longer in the journal.`)
      return
    }
    await printJson(io, next.value)
  }
}

const DAY = 86_400_000
const MEGABYTE = 1_000_000

export const logsGc: Command = defineCommand({
  name: 'logs gc',
  options: {
    'max-age': { type: 'number', value: 'DAYS', about: 'remove turns older than this', default: '365', min: 0 },
    'max-size': {
      type: 'number',
      value: 'MB',
      about: 'remove the oldest turns until the journal is no larger',
      default: '1074',
      min: 0,
    },
    'dry-run': { type: 'flag', about: 'only report what would be removed' },
    json: jsonOption('{ turns, sessions, oldest, newest, bytes, dryRun }'),
  },
  details: `Keeps running turns, whatever their age. Unless --max-age is given, age counts from the fourth-newest day with turns, or
from now if that is earlier, so that a wrong clock removes nothing. Works in small steps; Ctrl-C stops it, and turns already
removed stay removed.`,
  examples: ['cria logs gc --dry-run', 'cria logs gc --max-age 30'],
  async run({ options }, io) {
    const journal = await openJournalIfThere(io)
    const { 'max-age': days, 'max-size': megabytes, 'dry-run': dryRun, json } = options
    const report = (await journal?.gc({
      ...(days === undefined ? {} : { maxAgeMs: days * DAY }),
      ...(megabytes === undefined ? {} : { maxBytes: megabytes * MEGABYTE }),
      dryRun,
      signal: io.signal,
    })) ?? { turns: 0, sessions: 0, oldest: null, newest: null, bytes: 0, dryRun }
    if (json) return printJson(io, report)
    const { turns, sessions, oldest, newest, bytes } = report
    if (turns === 0) return note(io, 'nothing to remove: the journal is within its limits.')
    const when = oldest === null || newest === null ? '' : ` from ${formatTime(oldest)} to ${formatTime(newest)}`
    const what = `${plural(turns, 'turn')}${when}, ${plural(sessions, 'whole session')}, ${formatBytes(bytes)}`
    await note(io, `${dryRun ? 'would remove' : 'removed'} ${what}.`)
  },
})
