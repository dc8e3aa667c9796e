import { setTimeout as sleep } from 'node:timers/promises'
import { openJournalToRead } from '../../app/journal.ts'
import type { Journal } from '../../app/journal.ts'
import type { ListTurns, TurnSummary } from '../../core/recorder.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { roomOf, toJsonLine } from '../io.ts'
import type { Io } from '../io.ts'
import { TURN_FILTER, turnsMeant } from '../turn-filter.ts'
import { turnTable } from './logs-list.ts'

const DEFAULT_LAST = 10
const POLL_MS = 500
/** Turns that are looked at in one go; a turn that is older than so many newer ones is not waited for. */
const MOST_WATCHED = 200

export const logsTail: Command = defineCommand({
  name: 'logs tail',
  options: {
    last: {
      type: 'integer',
      short: 'n',
      value: 'N',
      about: 'turns that are shown first',
      default: String(DEFAULT_LAST),
      min: 0,
      max: MOST_WATCHED,
    },
    ...TURN_FILTER,
    json: { type: 'flag', about: 'print one JSON object a line' },
  },
  details: 'Shows each turn once, when it has ended, of any process that writes to the journal. Ctrl-C ends it.',
  examples: ['cria logs tail', 'cria logs tail -n 0 --tool run_command', 'cria logs tail --status failed --json'],
  async run({ options }, io) {
    const meant = turnsMeant(options, Date.now())
    const shown = new Set<string>()
    for (let isFirst = true; !io.signal.aborted; isFirst = false) {
      const ended = await endedTurns(io, meant)
      const news = ended.filter(({ turnId }) => !shown.has(turnId))
      for (const { turnId } of news) shown.add(turnId)
      await tell(isFirst ? news.slice(0, options.last ?? DEFAULT_LAST) : news, options.json, io)
      await sleep(POLL_MS, undefined, { signal: io.signal }).catch(() => undefined)
    }
  },
})

/** Newest first; none as long as there is no journal. */
async function endedTurns(io: Io, meant: ListTurns): Promise<readonly TurnSummary[]> {
  const journal: Journal | undefined = await openJournalToRead(io)
  const found = await journal?.read.turns({ ...meant, limit: MOST_WATCHED })
  return found?.turns.filter(({ status }) => status !== 'open') ?? []
}

async function tell(turns: readonly TurnSummary[], isJson: boolean, { stdout }: Io): Promise<void> {
  if (turns.length === 0) return
  const oldestFirst = turns.toReversed()
  if (isJson) await stdout.write(oldestFirst.map(toJsonLine).join(''))
  else await stdout.writeRaw(turnTable(oldestFirst, roomOf(stdout)))
}
