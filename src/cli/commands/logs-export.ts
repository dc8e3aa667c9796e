import { exportTurns, openJournalToRead } from '../../app/journal.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'

export const logsExport: Command = defineCommand({
  name: 'logs export',
  options: {
    limit: { type: 'integer', short: 'n', value: 'N', about: 'turns at most', default: 'all', min: 1 },
    session: { type: 'text', value: 'ID', about: 'only turns of this session' },
    model: { type: 'text', short: 'm', value: 'MODEL', about: 'only turns of this model' },
  },
  details: 'Each line is one turn as `cria logs show --json` prints it, newest first.',
  examples: ['cria logs export > turns.jsonl'],
  async run({ options: { limit, session, model } }, io) {
    const journal = await openJournalToRead(io)
    if (journal === undefined) return 0
    const turns = exportTurns(journal.read, {
      ...(limit === undefined ? {} : { limit }),
      ...(session === undefined ? {} : { sessionId: session }),
      ...(model === undefined ? {} : { model }),
    })
    for await (const line of turns) {
      await io.stdout.write(`${line}\n`)
      if (io.signal.aborted) break
    }
    return 0
  },
})
