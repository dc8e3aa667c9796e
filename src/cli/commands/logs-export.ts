import { exportTurns, openJournalToRead } from '../../app/journal.ts'
import { preferencePairs } from '../../app/preferences.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { JournalReader } from '../../core/recorder.ts'
import { plural } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { defined } from '../../util/check.ts'

export const logsExport: Command = defineCommand({
  name: 'logs export',
  options: {
    limit: { type: 'integer', short: 'n', value: 'N', about: 'turns at most', default: 'all', min: 1 },
    session: { type: 'text', value: 'ID', about: 'only turns of this session' },
    model: { type: 'text', short: 'm', value: 'MODEL', about: 'only turns of this model' },
    preferences: { type: 'flag', about: 'choices between two answers as pairs: { prompt, chosen, rejected, … }, oldest first' },
  },
  details: `Each line is one turn as \`cria logs show --json\` prints it, newest first. What is damaged is left out and named on
standard error; the exit code is then 1. With --preferences each line is a choice that prefers one of two answers, in the conversational
form that trainers read; ties are left out.`,
  examples: ['cria logs export > turns.jsonl', 'cria logs export --preferences > pairs.jsonl'],
  async run({ options: { limit, session, model, preferences } }, io) {
    if (preferences && (session !== undefined || model !== undefined))
      throw new ConfigurationError('--preferences exports choices, not turns: leave --session and --model out.')
    const journal = await openJournalToRead(io)
    if (journal === undefined) return EXIT.done
    if (preferences) {
      await exportPreferences(journal.read, limit ?? Infinity, io)
      return EXIT.done
    }
    const damaged: string[] = []
    const turns = exportTurns(journal.read, {
      onDamage: (what) => damaged.push(what),
      ...defined({ limit, sessionId: session, model }),
    })
    for await (const piece of turns) {
      await io.stdout.write(piece)
      if (io.signal.aborted) break
    }
    for (const what of damaged) await note(io, `not exported: ${what}.`)
    return damaged.length === 0 ? EXIT.done : EXIT.failed
  },
})

async function exportPreferences(read: JournalReader, limit: number, io: Io): Promise<void> {
  const pairs = preferencePairs(read)
  for (let written = 0; written < limit && !io.signal.aborted; written++) {
    const next = await pairs.next()
    if (next.done === true) {
      const { missing } = next.value
      if (missing > 0) await note(io, `left out ${plural(missing, 'choice')} whose turns are no longer in the journal.`)
      return
    }
    await printJson(io, next.value)
  }
}
