import type { JournalReader, ListTurns } from '../core/recorder.ts'

/** Whole turns as JSON lines without line ends, newest first; any journal can be exported, and is never held in memory as a whole. */
export async function* exportTurns(
  reader: JournalReader,
  query: Omit<ListTurns, 'cursor'> = {},
): AsyncGenerator<string, void, undefined> {
  let left = query.limit ?? Number.POSITIVE_INFINITY
  let cursor: string | null | undefined
  while (cursor !== null && left > 0) {
    const list = await reader.turns({ ...query, limit: Math.min(left, 100), ...(cursor === undefined ? {} : { cursor }) })
    for (const { turnId } of list.turns) {
      const detail = await reader.turn(turnId)
      // It may have been removed since it was listed.
      if (detail !== undefined) yield JSON.stringify(detail)
    }
    left -= list.turns.length
    cursor = list.nextCursor
  }
}
