import { openJournalIfThere } from '../../app/journal.ts'
import type { StatsRow } from '../../core/recorder.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { formatCost, shorten, table } from '../format.ts'
import { note, toJsonLine } from '../io.ts'

export const logsStats: Command = defineCommand({
  name: 'logs stats',
  options: {
    json: { type: 'flag', about: 'print one JSON object: { days: [{ day, model, turns, … }], total }' },
  },
  details: 'Days are those of UTC. What nobody knows is counted apart and is not part of the sums.',
  examples: ['cria logs stats', 'cria logs stats --json'],
  async run({ options }, io) {
    const journal = await openJournalIfThere(io)
    const days = (await journal?.stats()) ?? []
    const total = sum(days)
    if (options.json) {
      await io.stdout.write(toJsonLine({ days, total }))
    } else if (days.length === 0) {
      await note(io, 'no turns are recorded yet.')
    } else {
      const head = ['day', 'model', 'turns', 'unfinished', 'tokens in', 'tokens out', 'cost']
      const rows = [...days.map((row) => cells(row.day, row.model, row)), cells('total', '', total)]
      await io.stdout.writeRaw(table([head, ...rows], [2, 3, 4, 5, 6]))
    }
    return 0
  },
})

type Sums = Omit<StatsRow, 'day' | 'model'>

function sum(rows: readonly StatsRow[]): Sums {
  const total = { turns: 0, unfinished: 0, inputTokens: 0, outputTokens: 0, unknownUsage: 0, costUsd: 0, unknownCost: 0 }
  for (const row of rows) for (const key of Object.keys(total) as (keyof Sums)[]) total[key] += row[key]
  return total
}

function cells(day: string, model: string, row: Sums): readonly string[] {
  const tokens = (value: number): string => (row.unknownUsage === 0 ? String(value) : `${value} + unknown`)
  return [
    day,
    shorten(model, 40),
    String(row.turns),
    String(row.unfinished),
    tokens(row.inputTokens),
    tokens(row.outputTokens),
    row.unknownCost === 0 ? formatCost(row.costUsd) : `${formatCost(row.costUsd)} + unknown`,
  ]
}
