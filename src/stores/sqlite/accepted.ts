/** Finds the chunks that a filter accepts. */

import { isPattern } from '../../core/store.ts'
import type { ChunkFilter, FilterTest } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { best } from '../rank/blend.ts'
import type { Scored } from '../rank/blend.ts'
import { chunkTest, fieldTest } from '../rank/filter.ts'
import type { Filtered } from '../rank/filter.ts'

/** Least number of chunks that are checked at once. */
const LEAST_ROOM = 64
/** Chunks read at once when all have to be checked. */
const PAGE = 500

/**
 * Returns the best of the chunks that a filter accepts, among the given ids or among all. Sets the score of rejected chunks to 0.
 *
 * @param filter already checked.
 */
export function bestAccepted(
  connection: Connection,
  filter: ChunkFilter | undefined,
  scored: Scored,
): (limit: number, among?: readonly number[]) => number[] {
  if (filter === undefined) return (limit, among) => best(scored, limit, among)
  excludeSources(connection, filter, scored)
  const passes = chunkTest(filter)
  const met = new Set<number>()
  return (limit, among) => {
    for (let room = Math.max(limit, LEAST_ROOM); ; room *= 4) {
      const found = best(scored, room, among)
      const fresh = found.filter((id) => !met.has(id))
      for (const id of fresh) met.add(id)
      for (const chunk of withoutTexts(connection, fresh)) if (!passes(chunk)) scored.scores[chunk.id] = 0
      const kept = found.filter((id) => (scored.scores[id] ?? 0) > 0)
      if (kept.length >= limit || found.length < room) return kept.slice(0, limit)
    }
  }
}

/** Sets the score of chunks from other sources to 0, with an index lookup instead of checking them one by one. */
function excludeSources(connection: Connection, filter: ChunkFilter, { scores }: Scored): void {
  if (!Object.hasOwn(filter, 'source')) return
  const rows = connection.all<{ id: number }>(
    `SELECT chunks.id FROM chunks JOIN sources ON sources.id = source_id WHERE source IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(sourcesNamed(connection, [filter['source'] ?? null].flat()))],
  )
  const named = new Set(rows.map(({ id }) => id))
  for (let id = 0; id < scores.length; id++) if ((scores[id] ?? 0) > 0 && !named.has(id)) scores[id] = 0
}

/** Matches patterns here, because SQL's GLOB has other rules. */
function sourcesNamed(connection: Connection, tests: readonly FilterTest[]): readonly unknown[] {
  if (!tests.some(isPattern)) return tests
  const passes = fieldTest(tests)
  const rows = connection.all<{ source: string }>('SELECT source FROM sources')
  return rows.map(({ source }) => source).filter(passes)
}

/** Reports whether a filter accepts any chunk. Checks chunks one by one until one passes. */
export function letsAnyThrough(connection: Connection, filter: ChunkFilter): boolean {
  const passes = chunkTest(filter)
  let ids: number[] = []
  do {
    const rows = connection.all<{ id: number }>('SELECT id FROM chunks WHERE id > ? ORDER BY id LIMIT ?', [
      ids.at(-1) ?? -1,
      PAGE,
    ])
    ids = rows.map(({ id }) => id)
    if (withoutTexts(connection, ids).some(passes)) return true
  } while (ids.length > 0)
  return false
}

function withoutTexts(connection: Connection, ids: readonly number[]): (Filtered & { readonly id: number })[] {
  const rows = connection.all<{ id: number; source: string; details: string }>(
    `SELECT chunks.id, source, chunks.details FROM chunks JOIN sources ON sources.id = source_id
     WHERE chunks.id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(ids)],
  )
  return rows.map(({ details, ...row }) => ({ ...(JSON.parse(details) as Pick<Filtered, 'title' | 'metadata'>), ...row }))
}
