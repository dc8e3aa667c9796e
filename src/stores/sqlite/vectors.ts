/** Keeps vectors and their codes in step with the chunks. What writes happens inside the caller's transaction. */

import type { Chunk } from '../../core/store.ts'
import { embeddingText } from '../vectors/text.ts'
import { codeBytes, codeOf, fromBytes, toBytes } from '../vectors/unit.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { addToFact, readFact } from './facts.ts'

const PAGE = 1024
const PRESENT_BYTES = PAGE / 8

export interface PlacedVector {
  readonly chunk: number
  /** Of length 1; `undefined` for a chunk whose text has no place in the space. */
  readonly vector: Float32Array | undefined
}

export interface ChunkText {
  readonly id: number
  readonly details: string
  readonly text: string
}

interface PageRow {
  readonly page: number
  readonly data: Uint8Array
}

/** Chunks without a vector, by id. */
export function chunksWithout(connection: Connection, embedder: number, after: number, limit: number): ChunkText[] {
  return connection.all<ChunkText>(
    `SELECT chunks.id, details, text FROM chunks
     WHERE chunks.id > ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE chunk = chunks.id AND embedder = ?)
     ORDER BY chunks.id LIMIT ?`,
    [after, embedder, limit],
  )
}

export function countWithout(connection: Connection, embedder: number, after: number): number {
  return (
    connection.get<{ n: number }>(
      `SELECT count(*) AS n FROM chunks
       WHERE id > ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE chunk = chunks.id AND embedder = ?)`,
      [after, embedder],
    )?.n ?? 0
  )
}

/** Those whose chunk is gone meanwhile are left out. */
export function putVectors(connection: Connection, embedder: number, placed: readonly PlacedVector[]): void {
  const kept = placed.filter(
    ({ chunk, vector }) =>
      connection.run(
        `INSERT OR REPLACE INTO vectors (embedder, chunk, data)
         SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM chunks WHERE id = ?)`,
        [embedder, chunk, vector === undefined ? new Uint8Array() : toBytes(vector), chunk],
      ) > 0,
  )
  for (const [page, inPage] of Map.groupBy(kept, ({ chunk }) => Math.floor(chunk / PAGE))) {
    const dimensions = inPage.find(({ vector }) => vector !== undefined)?.vector?.length
    if (dimensions === undefined) continue
    const bytes = codeBytes(dimensions)
    const data = new Uint8Array(PRESENT_BYTES + PAGE * bytes)
    const row = connection.get<PageRow>('SELECT page, data FROM codes WHERE embedder = ? AND page = ?', [embedder, page])
    if (row !== undefined) data.set(row.data)
    for (const { chunk, vector } of inPage) {
      if (vector === undefined) continue
      const at = chunk % PAGE
      data[at >> 3] = (data[at >> 3] ?? 0) | (1 << (at & 7))
      data.set(codeOf(vector), PRESENT_BYTES + at * bytes)
    }
    connection.run('INSERT OR REPLACE INTO codes (embedder, page, data) VALUES (?, ?, ?)', [embedder, page, data])
  }
  addToFact(connection, 'vector_changes', 1)
}

/** Forgets the vectors of chunks that are gone, whoever made them. */
export function removeVectors(connection: Connection, chunks: readonly number[]): void {
  const removed = connection.run('DELETE FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))', [JSON.stringify(chunks)])
  if (removed === 0) return
  for (const [page, inPage] of Map.groupBy(chunks, (chunk) => Math.floor(chunk / PAGE))) {
    const rows = connection.all<PageRow & { readonly embedder: number }>(
      'SELECT embedder, page, data FROM codes WHERE page = ?',
      [page],
    )
    for (const { embedder, data } of rows) {
      for (const chunk of inPage) {
        const at = chunk % PAGE
        data[at >> 3] = (data[at >> 3] ?? 0) & ~(1 << (at & 7))
      }
      const isEmpty = data.subarray(0, PRESENT_BYTES).every((byte) => byte === 0)
      if (isEmpty) connection.run('DELETE FROM codes WHERE embedder = ? AND page = ?', [embedder, page])
      else connection.run('UPDATE codes SET data = ? WHERE embedder = ? AND page = ?', [data, embedder, page])
    }
  }
  addToFact(connection, 'vector_changes', 1)
}

/** A vector, and the text that it was made of. */
export interface SourceVector {
  readonly embedder: number
  readonly made: string
  readonly data: Uint8Array
}

/** All vectors of a source, of every embedder. */
export function vectorsOfSource(connection: Connection, source: string): SourceVector[] {
  return connection
    .all<ChunkText & { readonly embedder: number; readonly data: Uint8Array }>(
      `SELECT chunks.id, chunks.details, text, embedder, data
       FROM sources JOIN chunks ON source_id = sources.id JOIN vectors ON chunk = chunks.id WHERE source = ?`,
      [source],
    )
    .map(({ embedder, data, ...chunk }) => ({ embedder, data, made: madeOf(chunk) }))
}

/** Gives the chunks of a source the vectors that were made of the same texts. */
export function giveVectors(connection: Connection, source: string, vectors: readonly SourceVector[]): void {
  if (vectors.length === 0) return
  const chunks = connection.all<ChunkText>(
    'SELECT chunks.id, chunks.details, text FROM sources JOIN chunks ON source_id = sources.id WHERE source = ?',
    [source],
  )
  for (const [embedder, ofIt] of Map.groupBy(vectors, (vector) => vector.embedder)) {
    const byText = new Map(ofIt.map(({ made, data }) => [made, data]))
    const placed = chunks.flatMap((chunk): PlacedVector[] => {
      const data = byText.get(madeOf(chunk))
      return data === undefined ? [] : [{ chunk: chunk.id, vector: data.length === 0 ? undefined : fromBytes(data) }]
    })
    putVectors(connection, embedder, placed)
  }
}

/** What the vector of a chunk is made of. */
export function madeOf({ details, text }: ChunkText): string {
  return embeddingText({ ...(JSON.parse(details) as Pick<Chunk, 'title' | 'headings'>), text })
}

/** The vectors of some chunks, those that have one. */
export function readVectors(connection: Connection, embedder: number, chunks: readonly number[]): Map<number, Float32Array> {
  const rows = connection.all<{ chunk: number; data: Uint8Array }>(
    'SELECT chunk, data FROM vectors WHERE embedder = ? AND chunk IN (SELECT value FROM json_each(?)) AND length(data) > 0',
    [embedder, JSON.stringify(chunks)],
  )
  return new Map(rows.map(({ chunk, data }) => [chunk, fromBytes(data)]))
}

/** The codes of all chunks by id; read once and kept until vectors change. */
export class CodeCache {
  #key = ''
  #pages: PageRow[] = []

  /** Inside a snapshot. */
  of(connection: Connection, embedder: number): readonly PageRow[] {
    const key = `${embedder} ${readFact(connection, 'vector_changes')}`
    if (key !== this.#key) {
      this.#pages = connection.all<PageRow>('SELECT page, data FROM codes WHERE embedder = ? ORDER BY page', [embedder])
      this.#key = key
    }
    return this.#pages
  }
}

/** Calls `each` for every chunk that has a code, with the bytes it stands in and where it begins. */
export function forEachCode(
  pages: readonly PageRow[],
  dimensions: number,
  each: (chunk: number, codes: Uint8Array, at: number) => void,
): void {
  const bytes = codeBytes(dimensions)
  for (const { page, data } of pages) {
    for (let at = 0; at < PAGE; at++) {
      if (((data[at >> 3] ?? 0) >> (at & 7)) & 1) each(page * PAGE + at, data, PRESENT_BYTES + at * bytes)
    }
  }
}
