import { openJournalIfThere } from '../../app/journal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatBytes, formatTime, plural } from '../format.ts'
import { note, printJson } from '../io.ts'

const DAY = 86_400_000
const MEGABYTE = 1_000_000

export const logsGc: Command = defineCommand({
  name: 'logs gc',
  options: {
    'max-age': { type: 'number', value: 'DAYS', about: 'older turns go', default: '365', min: 0 },
    'max-size': {
      type: 'number',
      value: 'MB',
      about: 'the oldest turns go until the journal is no larger',
      default: '1074',
      min: 0,
    },
    'dry-run': { type: 'flag', about: 'only say what would go' },
    json: jsonOption('{ turns, sessions, oldest, newest, bytes, dryRun }'),
  },
  details: `Turns that are running stay, whatever their age. Unless --max-age is given, age counts from days on which the journal was used, so
that a clock which is wrong removes nothing. Works in small steps; Ctrl-C ends it, and what was removed by then is gone.`,
  examples: ['cria logs gc --dry-run', 'cria logs gc --max-age 30'],
  async run({ options }, io) {
    const journal = await openJournalIfThere(io)
    const { 'max-age': days, 'max-size': megabytes, 'dry-run': dryRun } = options
    const report = (await journal?.gc({
      ...(days === undefined ? {} : { maxAgeMs: days * DAY }),
      ...(megabytes === undefined ? {} : { maxBytes: megabytes * MEGABYTE }),
      dryRun,
      signal: io.signal,
    })) ?? { turns: 0, sessions: 0, oldest: null, newest: null, bytes: 0, dryRun }
    if (options.json) return printJson(io, report)
    const { turns, sessions, oldest, newest, bytes } = report
    const when = oldest === null || newest === null ? '' : ` from ${formatTime(oldest)} to ${formatTime(newest)}`
    await note(
      io,
      turns === 0
        ? 'nothing is too old or too much.'
        : `${dryRun ? 'would remove' : 'removed'} ${plural(turns, 'turn')}${when}, ${plural(sessions, 'whole session')}, ${formatBytes(bytes)}.`,
    )
  },
})
