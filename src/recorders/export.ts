/** A journal as lines of JSON; any journal can be exported, and is never held in memory as a whole. */

import { isCriaError } from '../core/error.ts'
import type { JournalReader, ListTurns } from '../core/recorder.ts'
import { jsonPieces } from '../util/json-pieces.ts'

export interface ExportOptions extends Omit<ListTurns, 'cursor'> {
  /** Told of what cannot be read, in words; the rest is exported all the same. */
  readonly onDamage?: (what: string) => void
}

/** One line for each turn, newest first, in pieces: a line may be longer than a string can be. */
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
    // It may have been removed since it was listed.
    if (detail === undefined) return
    for (const what of detail.damaged ?? []) onDamage?.(`${turnId}: ${what}`)
    yield* jsonPieces(detail)
    yield '\n'
  } catch (error) {
    if (!isCriaError(error) || error.code !== 'journal_failed') throw error
    onDamage?.(`${turnId}: ${error.message}`)
  }
}
