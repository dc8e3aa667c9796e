/** Says that a named session is new, since its name may be mistyped. */

import { openJournal } from '../app/journal.ts'
import { nearest } from '../util/nearest.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'

const MOST_KNOWN = 50

/** Tells of a session that does not go on, but begins. */
export async function tellNewSession(sessionId: string | undefined, io: Io): Promise<void> {
  if (sessionId === undefined) return
  const journal = await openJournal(io)
  const { turns } = await journal.read.turns({ sessionId, limit: 1 })
  if (turns.length > 0) return
  const known = (await journal.sessionStats(MOST_KNOWN)).map((session) => session.sessionId)
  const meant = nearest(sessionId, known)
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`
  await note(io, `there is no session ${JSON.stringify(sessionId.slice(0, 100))} in the journal: it begins with this.${question}`)
}
