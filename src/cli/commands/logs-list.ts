import { openJournalIfThere } from '../../app/journal.ts'
import type { ListTurns, TurnList, TurnSummary } from '../../core/recorder.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { formatCost, formatMs, formatTime, shorten, table } from '../format.ts'
import { note, toJsonLine } from '../io.ts'
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
  cursor: { type: 'text', value: 'CURSOR', about: 'go on where a list ended: its "nextCursor"' },
  json: { type: 'flag', about: 'print one JSON object' },
} as const

const DEFAULT_LIMIT = 20

export const logsList: Command = defineCommand({
  name: 'logs list',
  options: OPTIONS,
  examples: ['cria logs list -n 5', 'cria logs list --status failed --json'],
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
  readonly cursor: string | undefined
  readonly search?: string
  readonly json: boolean
}

async function list(io: Io, options: ListOptions): Promise<number> {
  const journal = await openJournalIfThere(io)
  const found: TurnList = (await journal?.read.turns(toQuery(options))) ?? { turns: [], nextCursor: null }
  if (options.json) {
    await io.stdout.write(toJsonLine(found))
  } else if (found.turns.length === 0) {
    await note(io, 'no turns were found.')
  } else {
    await io.stdout.writeRaw(
      table(
        found.turns.map((turn) => row(turn, io.stdout.isTerminal ? io.stdout.columns : Infinity)),
        [3, 4],
      ),
    )
    if (found.nextCursor !== null) await note(io, `there are more: go on with --cursor ${found.nextCursor}`)
  }
  return 0
}

function toQuery({ limit, status, model, session, cursor, search }: ListOptions): ListTurns {
  return {
    limit: limit ?? DEFAULT_LIMIT,
    ...(status === undefined ? {} : { status: status as NonNullable<ListTurns['status']> }),
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(search === undefined ? {} : { search }),
  }
}

function row(turn: TurnSummary, columns: number): readonly string[] {
  const cells = [
    turn.turnId,
    formatTime(turn.startedAt),
    turn.status,
    formatMs(turn.latencyMs),
    formatCost(turn.costUsd),
    shorten(turn.model, 40),
  ]
  const taken = cells.join('  ').length + 12
  return [...cells, shorten(turn.question, Math.max(20, Math.min(columns - taken, 200)))]
}
