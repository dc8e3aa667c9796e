/**
 * Stores vectors, their codes and the models that made them, in step with the chunks. Functions that write run inside the caller's transaction.
 */

import type { EmbeddingModel } from '../../core/retrieval-models.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { Chunk } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { codeBytes, codeOf, fromBytes, toBytes } from '../vectors/unit.ts'
import type { ChunkRow } from './documents.ts'
import { addToFact } from './facts.ts'

/** Version of the texts that vectors are made from (`madeOf`): vectors made under different rules cannot be compared. */
const TEXT_RULE = 1

export interface Embedder {
  readonly id: number
  readonly model: string
  readonly dimensions: number
  readonly rule: number
  readonly probe: Uint8Array
  /** True once all chunks have been embedded; false during the first run. */
  readonly isCurrent: boolean
  /** Every chunk up to this id has its vector. */
  readonly through: number
}

interface Row extends Omit<Embedder, 'isCurrent'> {
  readonly current: number
}

/** Returns the embedder whose vectors are searched. */
export function currentEmbedder(connection: Connection): Embedder | undefined {
  return embedders(connection).find(({ isCurrent }) => isCurrent)
}

/** Returns all embedders, the current one first. */
export function embedders(connection: Connection): Embedder[] {
  return connection
    .all<Row>('SELECT id, model, dimensions, rule, probe, current, through FROM embedders ORDER BY current DESC, id DESC')
    .map(({ current, ...row }) => ({ ...row, isCurrent: current === 1 }))
}

/** Call it inside a transaction. @param probe the vector of a fixed text. */
export function addEmbedder(connection: Connection, model: string, probe: Float32Array): Embedder {
  const made = { model, dimensions: probe.length, rule: TEXT_RULE, probe: toBytes(probe), through: 0 }
  const id = connection.insert(
    'INSERT INTO embedders (model, dimensions, rule, probe, current, through) VALUES (?, ?, ?, ?, 0, ?)',
    Object.values(made),
  )
  return { ...made, id, isCurrent: false }
}

/** Makes an embedder current once all chunks up to `through` have vectors, and removes the others. Call it inside a transaction. */
export function finish(connection: Connection, { id, isCurrent }: Embedder, through: number): void {
  connection.run('UPDATE embedders SET current = 1, through = ? WHERE id = ?', [through, id])
  if (!isCurrent) removeOthers(connection, [id])
}

/** Removes all other embedders and their vectors. Call it inside a transaction. */
export function removeOthers(connection: Connection, kept: readonly number[]): void {
  const ids = JSON.stringify(kept)
  for (const table of ['vectors', 'codes']) {
    connection.run(`DELETE FROM ${table} WHERE embedder NOT IN (SELECT value FROM json_each(?))`, [ids])
  }
  connection.run('DELETE FROM embedders WHERE id NOT IN (SELECT value FROM json_each(?))', [ids])
  addToFact(connection, 'vector_changes', 1)
}

/** Reports whether vectors of the model can be mixed with those of the embedder, as far as the model declares. */
export function isMadeBy({ model, dimensions, rule }: Embedder, given: EmbeddingModel): boolean {
  return model === given.ref && rule === TEXT_RULE && (given.dimensions === undefined || given.dimensions === dimensions)
}

/** @param why the difference, as a sentence. */
export function mismatch(why: string, held: Embedder, model: EmbeddingModel, store: string): ConfigurationError {
  const given = { model: model.ref, ...(model.dimensions === undefined ? {} : { dimensions: model.dimensions }) }
  return new ConfigurationError(
    `The store ${JSON.stringify(store)} holds vectors that ${model.ref} cannot be compared with: ${why}`,
    {
      hint: `Make its vectors again with: cria index --embed ${model.ref} --store ${store} (in code: replaceEmbeddings). Or use ${held.model}.`,
      details: { held: { model: held.model, dimensions: held.dimensions }, given },
    },
  )
}

const PAGE = 1024
const PRESENT_BYTES = PAGE / 8

export interface PlacedVector {
  readonly chunk: number
  /** Of length 1; `undefined` for a chunk with a zero vector. */
  readonly vector: Float32Array | undefined
}

export type ChunkText = Pick<ChunkRow, 'id' | 'details' | 'text'>

export interface CodePage {
  readonly page: number
  readonly data: Uint8Array
}

const WITHOUT = 'FROM chunks WHERE id > ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE chunk = chunks.id AND embedder = ?)'

/** Returns chunks without a vector, by id. */
export function chunksWithout(connection: Connection, embedder: number, after: number, limit: number): ChunkText[] {
  return connection.all<ChunkText>(`SELECT id, details, text ${WITHOUT} ORDER BY id LIMIT ?`, [after, embedder, limit])
}

export function countWithout(connection: Connection, { id, through }: Embedder): number {
  return connection.get<{ n: number }>(`SELECT count(*) AS n ${WITHOUT}`, [through, id])?.n ?? 0
}

/** Stores vectors; ignores those whose chunk was removed meanwhile. */
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
    const row = connection.get<CodePage>('SELECT page, data FROM codes WHERE embedder = ? AND page = ?', [embedder, page])
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

/** Removes the vectors of removed chunks, of every embedder. */
export function removeVectors(connection: Connection, chunks: readonly number[]): void {
  const removed = connection.run('DELETE FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))', [JSON.stringify(chunks)])
  if (removed === 0) return
  for (const [page, inPage] of Map.groupBy(chunks, (chunk) => Math.floor(chunk / PAGE))) {
    const rows = connection.all<CodePage & { readonly embedder: number }>(
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

/** A vector, and the text it was made from. */
export interface SourceVector {
  readonly embedder: number
  readonly made: string
  readonly data: Uint8Array
}

/** Returns all vectors of a source, of every embedder. */
export function vectorsOfSource(connection: Connection, source: string): SourceVector[] {
  return connection
    .all<ChunkText & { readonly embedder: number; readonly data: Uint8Array }>(
      `SELECT chunks.id, chunks.details, text, embedder, data
       FROM sources JOIN chunks ON source_id = sources.id JOIN vectors ON chunk = chunks.id WHERE source = ?`,
      [source],
    )
    .map(({ embedder, data, ...chunk }) => ({ embedder, data, made: madeOf(chunk) }))
}

/** Assigns vectors to the chunks of a source with the same texts. */
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

/** Returns the text that a chunk's vector is made from: title, headings and text, one per line. */
export function madeOf({ details, text }: ChunkText): string {
  const { title, headings = [] } = JSON.parse(details) as Pick<Chunk, 'title' | 'headings'>
  const lines = [title, ...headings.filter((heading) => heading !== title), text]
  return lines.filter((line) => line !== undefined && line !== '').join('\n')
}

/** Returns the vectors of the given chunks that have one. */
export function readVectors(connection: Connection, embedder: number, chunks: readonly number[]): Map<number, Float32Array> {
  const rows = connection.all<{ chunk: number; data: Uint8Array }>(
    'SELECT chunk, data FROM vectors WHERE embedder = ? AND chunk IN (SELECT value FROM json_each(?)) AND length(data) > 0',
    [embedder, JSON.stringify(chunks)],
  )
  return new Map(rows.map(({ chunk, data }) => [chunk, fromBytes(data)]))
}

/** Returns the codes of all chunks, by page. */
export function readCodes(connection: Connection, embedder: number): readonly CodePage[] {
  return connection.all<CodePage>('SELECT page, data FROM codes WHERE embedder = ? ORDER BY page', [embedder])
}

/** Calls `each` for every chunk with a code, with its bytes and the offset of the code in them. */
export function forEachCode(
  pages: readonly CodePage[],
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
