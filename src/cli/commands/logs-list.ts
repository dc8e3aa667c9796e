import { openJournalToRead } from '../../app/journal.ts'
import type { ListTurns, TurnList, TurnSummary } from '../../core/recorder.ts'
import { defineCommand } from '../command.ts'
import type { Command, OptionValues } from '../command.ts'
import { formatCost, formatMs, formatTime, shorten, table } from '../format.ts'
import { note, printJson, roomOf } from '../io.ts'
import type { Io } from '../io.ts'
import { TURN_FILTER, turnsMeant } from '../turn-filter.ts'
import { defined } from '../../util/check.ts'

const OPTIONS = {
  limit: { type: 'integer', short: 'n', value: 'N', about: 'turns at most', default: '20', min: 1, max: 100_000 },
  ...TURN_FILTER,
  cursor: { type: 'text', value: 'CURSOR', about: 'go on where a list ended: its "nextCursor"' },
  json: { type: 'flag', about: 'print one JSON object' },
} as const

const DEFAULT_LIMIT = 20

export const logsList: Command = defineCommand({
  name: 'logs list',
  options: OPTIONS,
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
      about: 'words that stand in question or answer, or in one tool call (name and arguments); nothing in them is an operator',
      many: true,
    },
  ],
  options: OPTIONS,
  examples: [
    'cria logs search compaction',
    'cria logs search "npm test" --since 3d --tool run_command',
    'cria logs search "index size" --json',
  ],
  run: ({ arguments: words, options }, io) => list(io, { ...options, search: words.join(' ') }),
})

type ListOptions = OptionValues<typeof OPTIONS> & { readonly search?: string }

async function list(io: Io, options: ListOptions): Promise<void> {
  const journal = await openJournalToRead(io)
  const found: TurnList = (await journal?.read.turns(queryOf(options))) ?? { turns: [], nextCursor: null }
  for (const what of found.damaged ?? []) await note(io, `not shown: ${what}.`)
  if (options.json) {
    await printJson(io, found)
  } else if (found.turns.length === 0) {
    await note(io, 'no turns were found.')
  } else {
    await io.stdout.writeRaw(turnTable(found.turns, roomOf(io.stdout)))
    if (found.nextCursor !== null) await note(io, `there are more: go on with --cursor ${found.nextCursor}`)
  }
}

function queryOf(options: ListOptions): ListTurns {
  const { limit, cursor, search } = options
  return {
    ...turnsMeant(options, Date.now()),
    limit: limit ?? DEFAULT_LIMIT,
    ...defined({ cursor, search }),
  }
}

/** One line for each turn; where it has not the room, model and question in a line below, and what else does not fit. */
export function turnTable(turns: readonly TurnSummary[], columns: number): string {
  const isRated = turns.some(({ rating }) => rating !== null)
  const facts = turns.map(({ turnId, startedAt, status, latencyMs, costUsd, rating }) => [
    turnId,
    formatTime(startedAt),
    status,
    formatMs(latencyMs),
    formatCost(costUsd),
    ...(isRated ? [rating === null ? '–' : `rated ${rating}`] : []),
  ])
  const models = turns.map(({ model }) => shorten(model, 40))
  const above = table(facts, RIGHT).split('\n')
  const taken = widest(above) + GAP + widest(models) + GAP
  const isNarrow = taken + LEAST_QUESTION > columns
  const room = Math.min(columns, LONGEST_QUESTION + taken) - (isNarrow ? INDENT : taken)
  if (!isNarrow)
    return table(
      turns.map(({ question }, index) => [...(facts[index] ?? []), models[index] ?? '', shorten(question, room)]),
      RIGHT,
    )
  // An id is not broken: it is copied.
  const isTiny = widest(above) > columns
  return turns
    .map(({ question }, index) => {
      const row = facts[index] ?? []
      const model = models[index] ?? ''
      const rest = [...(isTiny ? row.slice(2) : []), model].join('  ')
      const below = isTiny && columns < USUAL_COLUMNS ? [rest, question] : [`${rest}  ${question}`]
      const line = isTiny ? row.slice(0, 2).join('  ') : (above[index] ?? '')
      return [line, ...below.map((text) => `${' '.repeat(INDENT)}${shorten(text, Math.max(LEAST_QUESTION, room))}`), ''].join(
        '\n',
      )
    })
    .join('')
}

function widest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => line.length))
}

/** With fewer, a question has a line of its own. */
const USUAL_COLUMNS = 80
/** Columns of figures. */
const RIGHT = [3, 4]
const GAP = 2
const INDENT = 4
const LEAST_QUESTION = 20
const LONGEST_QUESTION = 200
