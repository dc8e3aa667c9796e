import { openJournalToRead } from '../../app/journal.ts'
import type { JournalReader, SessionStats, StatsRow, StatsSums } from '../../core/recorder.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatCost, formatTime, plural, printTable, shorten } from '../format.ts'
import { note, printJson } from '../io.ts'
import { TURN_FILTER } from './logs-list.ts'
import { preferenceStats } from '../../app/preferences.ts'
import type { PositionBias, PreferenceStats, WinRate } from '../../app/preferences.ts'
import type { Io } from '../io.ts'

const VIEWS = ['day', 'model', 'session', 'user', 'tag'] as const

export const logsStats: Command = defineCommand({
  name: 'logs stats',
  options: {
    by: { type: 'text', value: 'VIEW', about: `what the table is by: ${VIEWS.join(', ')}`, default: 'day', choices: VIEWS },
    user: TURN_FILTER.user,
    tag: TURN_FILTER.tag,
    preferences: { type: 'flag', about: 'win rates from choices between two answers' },
    json: jsonOption('{ days: [{ day, model, turns, … }], models: […], sessions: […], total }'),
  },
  details: `With --preferences the table is about choices between two answers (cria compare): how often each model and system prompt was
preferred, with 95 % Wilson intervals, and whether the answer that was shown first was chosen more often than by chance. Days are those of UTC; of sessions, the last 50 are shown. What nobody knows is counted apart and is not part of the
sums. A turn that asked several models counts once, with the one that answered; tokens and cost count with each of them.`,
  examples: ['cria logs stats', 'cria logs stats --by model', 'cria logs stats --preferences', 'cria logs stats --json'],
  async run({ options }, io) {
    const journal = await openJournalToRead(io)
    if (options.preferences) return tellPreferences(journal?.read, options.json, io)
    const { user, tag } = options
    const filter = { ...(user === undefined ? {} : { userId: user }), ...(tag.length === 0 ? {} : { tags: tag }) }
    const days = (await journal?.stats(filter)) ?? []
    const total = sum(days)
    const models = byModel(days)
    if (options.json) {
      const sessions = (await journal?.sessionStats(undefined, filter)) ?? []
      await printJson(io, { days, models, sessions, total })
    } else if (journal === undefined || days.length === 0) {
      await note(io, 'no turns are recorded yet.')
    } else if (options.by === 'session') {
      const sessions = await journal.sessionStats(undefined, filter)
      await show(['session', 'last turn'], sessions.map(sessionCells), io)
    } else if (options.by === 'user') {
      const rows = (await journal.userStats()).map(({ userId, ...sums }) => [shorten(userId, 60), ...cells(sums)])
      await show(['user'], rows, io)
    } else if (options.by === 'tag') {
      const rows = (await journal.tagStats()).map((row) => [shorten(row.tag, 60), ...cells(row)])
      await show(['tag'], rows, io)
    } else if (options.by === 'model') {
      await show(['model'], [...models.map((row) => [shorten(row.model, 60), ...cells(row)]), totalCells(total, 0)], io)
    } else {
      const rows = days.map((row) => [row.day, shorten(row.model, 40), ...cells(row)])
      await show(['day', 'model'], [...rows, totalCells(total, 1)], io)
    }
  },
})

interface ModelStats extends StatsSums {
  readonly model: string
}

/** The dearest first. */
function byModel(days: readonly StatsRow[]): readonly ModelStats[] {
  const models = [...new Set(days.map(({ model }) => model))]
  return models
    .map((model) => ({ model, ...sum(days.filter((row) => row.model === model)) }))
    .toSorted((one, other) => other.costUsd - one.costUsd || other.turns - one.turns)
}

function sum(rows: readonly StatsSums[]): StatsSums {
  const total = { turns: 0, unfinished: 0, inputTokens: 0, outputTokens: 0, unknownUsage: 0, costUsd: 0, unknownCost: 0 }
  for (const row of rows) for (const key of Object.keys(total) as (keyof StatsSums)[]) total[key] += row[key]
  return total
}

const COLUMNS = ['turns', 'unfinished', 'tokens in', 'tokens out', 'cost']

/** @param names of the columns before the numbers. */
function show(names: readonly string[], rows: readonly (readonly string[])[], io: Io): Promise<void> {
  const right = COLUMNS.map((_, index) => names.length + index)
  return printTable(io, [[...names, ...COLUMNS], ...rows], right)
}

function sessionCells({ sessionId, lastTurnAt, ...sums }: SessionStats): readonly string[] {
  return [sessionId, formatTime(lastTurnAt), ...cells(sums)]
}

function totalCells(total: StatsSums, empty: number): readonly string[] {
  return ['total', ...Array<string>(empty).fill(''), ...cells(total)]
}

function cells(row: StatsSums): readonly string[] {
  const tokens = (value: number): string => (row.unknownUsage === 0 ? String(value) : `${value} + unknown`)
  return [String(row.turns), String(row.unfinished), tokens(row.inputTokens), tokens(row.outputTokens), costOf(row)]
}

/** A dash where nothing is known but that some turns have cost nothing. */
function costOf({ costUsd, unknownCost }: { readonly costUsd: number; readonly unknownCost: number }): string {
  if (unknownCost === 0) return formatCost(costUsd)
  return costUsd === 0 ? formatCost(null) : `${formatCost(costUsd)} + unknown`
}

/** From this p on the place is taken to have decided. */
const BIASED = 0.05

async function tellPreferences(read: JournalReader | undefined, isJson: boolean, io: Io): Promise<void> {
  const stats = read === undefined ? NONE : await preferenceStats(read)
  if (isJson) {
    await printJson(io, stats)
  } else if (stats.choices === 0) {
    await note(io, 'no choices are recorded yet: "cria compare" makes them.')
  } else {
    const names = ['model', 'prompt', 'wins', 'losses', 'ties', 'both bad', 'win rate', '95 %']
    if (stats.models.length > 0) await printTable(io, [names, ...stats.models.map(preferenceCells)], NUMBERS)
    await note(io, `${plural(stats.choices, 'choice')}, ${plural(stats.ties, 'tie')}, ${stats.bothBad} where neither would do.`)
    if (stats.position.choices > 0) await note(io, positionNote(stats.position))
    if (stats.missing > 0) await note(io, `of ${plural(stats.missing, 'choice')} the turns are no longer in the journal.`)
  }
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
    promptHash === null ? '–' : promptHash.slice(0, 8),
    String(wins),
    String(losses),
    String(ties),
    String(bothBad),
    winRate === null ? '–' : percent(winRate),
    interval === null ? '–' : `${percent(interval[0])} to ${percent(interval[1])}`,
  ]
}

function positionNote({ choices, firstChosen, share, interval, p }: PositionBias): string {
  const range = interval === null ? '' : ` (95 %: ${percent(interval[0])} to ${percent(interval[1])})`
  const chance = `p = ${p < 0.001 ? '< 0.001' : p.toFixed(3)}`.replace('= <', '<')
  const verdict = p < BIASED ? 'the place seems to decide: read the win rates with care' : 'no sign that the place decides'
  return `shown first and chosen: ${firstChosen} of ${choices}, ${percent(share ?? 0)}${range}, ${chance}; ${verdict}.`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
