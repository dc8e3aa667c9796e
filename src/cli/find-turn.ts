import { openJournalToRead } from '../app/journal.ts'
import type { Journal } from '../app/journal.ts'
import { CriaError } from '../core/error.ts'
import type { TurnDetail } from '../core/recorder.ts'
import type { Io } from './io.ts'

/**
 * Finds the turn with this id. `last` is the newest turn that a person asked for: turns that a tool made (sub-agents) are passed over.
 *
 * @param kind what the error says that there is none of.
 * @throws CriaError `not_found`
 */
export async function findTurn(
  io: Io,
  id: string,
  kind = 'turn',
): Promise<{ readonly journal: Journal; readonly detail: TurnDetail }> {
  const journal = await openJournalToRead(io)
  const turnId = id === 'last' ? (await journal?.read.turns({ nested: false, limit: 1 }))?.turns[0]?.turnId : id
  const detail = turnId === undefined ? undefined : await journal?.read.turn(turnId)
  if (journal === undefined || detail === undefined) {
    const what = id === 'last' ? 'There are no turns yet.' : `There is no ${kind} ${JSON.stringify(id.slice(0, 100))}.`
    throw new CriaError('not_found', what, {
      hint:
        kind === 'turn'
          ? '`cria logs list` shows the turns.'
          : '`cria logs list` shows the turns, `cria logs sessions` the sessions.',
    })
  }
  return { journal, detail }
}

/** Reads what the journal holds of a turn that has just ended; `undefined` where the journal cannot be read. */
export async function recordedTurn(io: Io, turnId: string): Promise<TurnDetail['turn'] | undefined> {
  try {
    const journal = await openJournalToRead(io)
    return (await journal?.read.turn(turnId))?.turn
  } catch {
    return undefined
  }
}
