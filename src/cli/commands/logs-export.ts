import { exportTurns, openJournalToRead } from '../../app/journal.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { note } from '../io.ts'

export const logsExport: Command = defineCommand({
  name: 'logs export',
  options: {
    limit: { type: 'integer', short: 'n', value: 'N', about: 'turns at most', default: 'all', min: 1 },
    session: { type: 'text', value: 'ID', about: 'only turns of this session' },
    model: { type: 'text', short: 'm', value: 'MODEL', about: 'only turns of this model' },
  },
  details:
    'Each line is one turn as `cria logs show --json` prints it, newest first. What is damaged is left out and named on standard error; the exit code is then 1.',
  examples: ['cria logs export > turns.jsonl'],
  async run({ options: { limit, session, model } }, io) {
    const journal = await openJournalToRead(io)
    if (journal === undefined) return 0
    const damaged: string[] = []
    const turns = exportTurns(journal.read, {
      onDamage: (what) => damaged.push(what),
      ...(limit === undefined ? {} : { limit }),
      ...(session === undefined ? {} : { sessionId: session }),
      ...(model === undefined ? {} : { model }),
    })
    for await (const piece of turns) {
      await io.stdout.write(piece)
      if (io.signal.aborted) break
    }
    for (const what of damaged) await note(io, `not exported: ${what}.`)
    return damaged.length === 0 ? EXIT.done : EXIT.failed
  },
})
