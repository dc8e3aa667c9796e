import { openJournalToRead } from '../../app/journal.ts'
import type { ListTurns, TurnList, TurnSummary } from '../../core/recorder.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { formatCost, formatMs, formatTime, shorten, table } from '../format.ts'
import { note, roomOf, toJsonLine } from '../io.ts'
import type { Io } from '../io.ts'

const OPTIONS = {
  limit: { type: 'integer', short: 'n', value: 'N', about: 'turns at most', default: '20', min: 1, max: 100_000 },
  status: {
    type: 'text',
    value: 'STATUS',
    about: 'only open, done, failed, cancelled or lost turns',
    choices: ['open', 'done', 'failed', 'cancelled', 'lost'],
  },
  model: { type: 'text', short: 'm', value: 'MODEL', about: 'only turns of this model' },
  session: { type: 'text', value: 'ID', about: 'only turns of this session' },
  slow: { type: 'flag', about: 'only slow turns: longer than 30 s, or "slowAfter" of the configuration' },
  cursor: { type: 'text', value: 'CURSOR', about: 'go on where a list ended: its "nextCursor"' },
  json: { type: 'flag', about: 'print one JSON object' },
} as const

const DEFAULT_LIMIT = 20

export const logsList: Command = defineCommand({
  name: 'logs list',
  options: OPTIONS,
  examples: ['cria logs list -n 5', 'cria logs list --slow', 'cria logs list --status failed --json'],
  run: ({ options }, io) => list(io, options),
})

export const logsSearch: Command = defineCommand({
  name: 'logs search',
  arguments: [{ name: 'words', about: 'words that stand in question or answer; nothing in them is an operator', many: true }],
  options: OPTIONS,
  examples: ['cria logs search compaction', 'cria logs search "index size" --json'],
  run: ({ arguments: words, options }, io) => list(io, { ...options, search: words.join(' ') }),
})

interface ListOptions {
  readonly limit: number | undefined
  readonly status: string | undefined
  readonly model: string | undefined
  readonly session: string | undefined
  readonly slow: boolean
  readonly cursor: string | undefined
  readonly search?: string
  readonly json: boolean
}

async function list(io: Io, options: ListOptions): Promise<number> {
  const journal = await openJournalToRead(io)
  const found: TurnList = (await journal?.read.turns(toQuery(options))) ?? { turns: [], nextCursor: null }
  for (const what of found.damaged ?? []) await note(io, `not shown: ${what}.`)
  if (options.json) {
    await io.stdout.write(toJsonLine(found))
  } else if (found.turns.length === 0) {
    await note(io, 'no turns were found.')
  } else {
    await io.stdout.writeRaw(turnTable(found.turns, roomOf(io.stdout)))
    if (found.nextCursor !== null) await note(io, `there are more: go on with --cursor ${found.nextCursor}`)
  }
  return 0
}

function toQuery({ limit, status, model, session, slow, cursor, search }: ListOptions): ListTurns {
  return {
    limit: limit ?? DEFAULT_LIMIT,
    ...(status === undefined ? {} : { status: status as NonNullable<ListTurns['status']> }),
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(slow ? { slow } : {}),
    ...(cursor === undefined ? {} : { cursor }),
    ...(search === undefined ? {} : { search }),
  }
}

/** One line for each turn; where it has not the room, model and question in a line below. */
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
  return turns
    .map(({ question }, index) => {
      const model = models[index] ?? ''
      const below = shorten(`${model}  ${question}`, Math.max(LEAST_QUESTION, room))
      return `${above[index] ?? ''}\n${' '.repeat(INDENT)}${below}\n`
    })
    .join('')
}

function widest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => line.length))
}

/** Columns of figures. */
const RIGHT = [3, 4]
const GAP = 2
const INDENT = 4
const LEAST_QUESTION = 20
const LONGEST_QUESTION = 200
