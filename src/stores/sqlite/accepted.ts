/** Finds the chunks that a filter accepts. */

import { isPattern } from '../../core/filter.ts'
import type { ChunkFilter, FilterTest } from '../../core/store.ts'
import { best } from '../rank/blend.ts'
import type { Scored } from '../rank/blend.ts'
import { chunkTest, fieldTest } from '../rank/filter.ts'
import type { Filtered } from '../rank/filter.ts'
import type { Connection } from '../../util/sqlite/connection.ts'

interface Row {
  readonly id: number
  readonly source: string
  readonly details: string
}

/** Chunks that are looked at in one go, at least. */
const LEAST_ROOM = 64

export class Accepted {
  readonly #connection: Connection
  readonly #filter: ChunkFilter | undefined
  readonly #met = new Set<number>()
  #passes: ReturnType<typeof chunkTest> | undefined

  constructor(connection: Connection, filter: ChunkFilter | undefined) {
    this.#connection = connection
    this.#filter = filter
  }

  /** Takes their score from chunks of other sources than those the filter names: with an index, which others need not be met one by one. */
  excludeSources({ scores }: Scored): void {
    if (this.#filter === undefined || !Object.hasOwn(this.#filter, 'source')) return
    const rows = this.#connection.all<{ id: number }>(
      `SELECT chunks.id FROM chunks JOIN sources ON sources.id = source_id WHERE source IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(this.#sourcesNamed([this.#filter['source'] ?? null].flat()))],
    )
    const named = new Set(rows.map(({ id }) => id))
    for (let id = 0; id < scores.length; id++) if ((scores[id] ?? 0) > 0 && !named.has(id)) scores[id] = 0
  }

  /** The best of those given, or of all. */
  best(scored: Scored, limit: number, among?: readonly number[]): number[] {
    const filter = this.#filter
    if (filter === undefined) return best(scored, limit, among)
    this.#passes ??= chunkTest(filter)
    for (let room = Math.max(limit, LEAST_ROOM); ; room *= 4) {
      const found = best(scored, room, among)
      for (const row of this.#meet(found)) if (!this.#passes(toFiltered(row))) scored.scores[row.id] = 0
      const kept = found.filter((id) => (scored.scores[id] ?? 0) > 0)
      if (kept.length >= limit || found.length < room) return kept.slice(0, limit)
    }
  }

  /** Patterns are compared here: what SQL calls a glob is something else. */
  #sourcesNamed(tests: readonly FilterTest[]): readonly unknown[] {
    if (!tests.some(isPattern)) return tests
    const passes = fieldTest(tests)
    return this.#connection
      .all<{ source: string }>('SELECT source FROM sources')
      .flatMap(({ source }) => (passes(source) ? source : []))
  }

  #meet(ids: readonly number[]): Row[] {
    const fresh = ids.filter((id) => !this.#met.has(id))
    for (const id of fresh) this.#met.add(id)
    return this.#connection.all<Row>(
      `SELECT chunks.id, source, chunks.details FROM chunks JOIN sources ON sources.id = source_id
       WHERE chunks.id IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(fresh)],
    )
  }
}

/** Whether a filter lets any chunk through. Chunks are met one by one until one passes. */
export function letsAnyThrough(connection: Connection, filter: ChunkFilter): boolean {
  const passes = chunkTest(filter)
  for (let after = -1; ;) {
    const rows = connection.all<Row>(
      `SELECT chunks.id, source, chunks.details FROM chunks JOIN sources ON sources.id = source_id
       WHERE chunks.id > ? ORDER BY chunks.id LIMIT 500`,
      [after],
    )
    if (rows.some((row) => passes(toFiltered(row)))) return true
    const last = rows.at(-1)
    if (last === undefined) return false
    after = last.id
  }
}

function toFiltered({ source, details }: Row): Filtered {
  return { source, ...(JSON.parse(details) as Pick<Filtered, 'title' | 'metadata'>) }
}
