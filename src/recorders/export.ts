/** Exports a journal as lines of JSON, for any recorder. Never holds the whole journal in memory. */

import { isCriaError } from '../core/error.ts'
import type { JournalReader, ListTurns } from '../core/recorder.ts'
import { jsonPieces } from '../util/json-pieces.ts'

export interface ExportOptions extends Omit<ListTurns, 'cursor'> {
  /** Called with a description of each part that cannot be read; the rest is still exported. */
  readonly onDamage?: (what: string) => void
}

/** Yields one line per turn, newest first, in pieces: a line may exceed the maximum length of a string. */
export async function* exportTurns(
  reader: JournalReader,
  { onDamage, ...query }: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  let left = query.limit ?? Number.POSITIVE_INFINITY
  let cursor: string | null | undefined
  while (cursor !== null && left > 0) {
    const list = await reader.turns({ ...query, limit: Math.min(left, 100), ...(cursor === undefined ? {} : { cursor }) })
    for (const what of list.damaged ?? []) onDamage?.(what)
    for (const { turnId } of list.turns) yield* exportTurn(reader, turnId, onDamage)
    left -= list.turns.length
    cursor = list.nextCursor
  }
}

async function* exportTurn(
  reader: JournalReader,
  turnId: string,
  onDamage: ExportOptions['onDamage'],
): AsyncGenerator<string, void, undefined> {
  try {
    const detail = await reader.turn(turnId)
    // The turn may have been removed since it was listed.
    if (detail === undefined) return
    for (const what of detail.damaged ?? []) onDamage?.(`${turnId}: ${what}`)
    yield* jsonPieces(detail)
    yield '\n'
  } catch (error) {
    if (!isCriaError(error) || error.code !== 'journal_failed') throw error
    onDamage?.(`${turnId}: ${error.message}`)
  }
}
