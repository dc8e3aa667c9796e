import { openJournalToRead } from '../app/journal.ts'
import type { Journal } from '../app/journal.ts'
import { CriaError } from '../core/error.ts'
import type { TurnDetail } from '../core/recorder.ts'
import type { Io } from './io.ts'

/**
 * Finds the turn with this id. `last` is the newest turn that a person asked for: turns that a tool made (sub-agents) are passed over.
 *
 * @throws CriaError `not_found`
 */
export async function findTurn(io: Io, id: string): Promise<{ readonly journal: Journal; readonly detail: TurnDetail }> {
  const journal = await openJournalToRead(io)
  const turnId = id === 'last' ? (await journal?.read.turns({ nested: false, limit: 1 }))?.turns[0]?.turnId : id
  const detail = turnId === undefined ? undefined : await journal?.read.turn(turnId)
  if (journal === undefined || detail === undefined) {
    const what = id === 'last' ? 'There are no turns yet.' : `There is no turn ${JSON.stringify(id.slice(0, 100))}.`
    throw new CriaError('not_found', what, { hint: '`cria logs list` shows the turns.' })
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
