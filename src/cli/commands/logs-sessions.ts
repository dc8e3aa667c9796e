import { openJournalToRead } from '../../app/journal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { note, printJson } from '../io.ts'
import { listSessions } from '../session-view.ts'

const DEFAULT_LIMIT = 20

export const logsSessions: Command = defineCommand({
  name: 'logs sessions',
  arguments: [
    { name: 'words', about: 'words that were said in it, or stand in one of its tool calls', many: true, required: false },
  ],
  options: {
    all: { type: 'flag', about: 'those of all folders' },
    limit: {
      type: 'integer',
      short: 'n',
      value: 'N',
      about: 'sessions at most',
      default: String(DEFAULT_LIMIT),
      min: 1,
      max: 100_000,
    },
    json: jsonOption('{ sessions: [{ sessionId, folder, settings, title, model, turns, startedAt, lastTurnAt }] }'),
  },
  details: `A session belongs to the folder that it was begun in. "cria chat --resume ID" goes on with one in its folder, with its model and
tools; "cria logs show ID" shows what was said.`,
  examples: ['cria logs sessions', 'cria logs sessions refund --all'],
  async run({ arguments: words, options }, io) {
    const journal = await openJournalToRead(io)
    const sessions =
      (await journal?.sessions({
        limit: options.limit ?? DEFAULT_LIMIT,
        ...(options.all ? {} : { folder: io.cwd }),
        ...(words.length === 0 ? {} : { search: words.join(' ') }),
      })) ?? []
    if (options.json) await printJson(io, { sessions })
    else if (sessions.length > 0) await listSessions(sessions, io, options.all)
    else
      await note(
        io,
        options.all ? 'no sessions were found.' : 'no sessions of this folder were found; --all looks in all folders.',
      )
  },
})
