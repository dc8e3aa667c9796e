/** Reads the sources and chunks of a store. */

import type { Chunk, SourceDocument, Surroundings } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readerRecipe, toChunk } from './documents.ts'
import type { ChunkRow, SourceState } from './documents.ts'
import { readFact } from './facts.ts'

/** Counts of the contents of a store. */
export interface StoreStats {
  /** Documents. */
  readonly sources: number
  /** Chunks of all documents. */
  readonly chunks: number
  /** Distinct words in the index. */
  readonly terms: number
  /** Size of the file in bytes. */
  readonly bytes: number
}

export interface SourceRow {
  readonly id: number
  readonly source: string
  readonly content_hash: string
  readonly recipe: string
  readonly chunks: number
  readonly file_hash: string | null
  readonly file_size: number | null
  readonly modified_at: number | null
}

const PAGE = 500

/** @param where the SQL after the table names. */
export function sourceRows(connection: Connection, where: string, value: string): SourceRow[] {
  const columns = 'id, source, content_hash, recipe, chunks, file_hash, file_size, modified_at'
  return connection.all<SourceRow>(`SELECT ${columns} FROM sources ${where}`, [value])
}

function stateOf(row: SourceRow): SourceState {
  const recipe = readerRecipe(row.recipe)
  return {
    source: row.source,
    chunks: row.chunks,
    contentHash: row.content_hash,
    file: {
      ...(row.file_hash === null ? {} : { hash: row.file_hash }),
      ...(row.file_size === null ? {} : { size: row.file_size }),
      ...(row.modified_at === null ? {} : { modifiedAt: row.modified_at }),
      ...(recipe === '' ? {} : { recipe }),
    },
  }
}

export function readSource(connection: Connection, source: string): SourceState | undefined {
  return sourceRows(connection, 'WHERE source = ?', source).map(stateOf)[0]
}

/** Yields all sources by name, a page at a time, so that no lock is held between pages. */
export function* readSources(connection: Connection): Generator<SourceState> {
  let rows = sourceRows(connection, `WHERE source > ? ORDER BY source LIMIT ${PAGE}`, '')
  while (rows.length > 0) {
    yield* rows.map(stateOf)
    rows = sourceRows(connection, `WHERE source > ? ORDER BY source LIMIT ${PAGE}`, rows.at(-1)?.source ?? '')
  }
}

export function sourcesWithHash(connection: Connection, fileHash: string): SourceState[] {
  return sourceRows(connection, 'WHERE file_hash = ? ORDER BY source', fileHash).map(stateOf)
}

/** Returns chunks in any order; unknown ids are left out. */
export function chunkRows(connection: Connection, ids: readonly number[]): ChunkRow[] {
  return connection.all<ChunkRow>(
    `SELECT chunks.id, chunk_id, source, chunks.details, chunks.text FROM chunks JOIN sources ON sources.id = source_id
     WHERE chunks.id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(ids)],
  )
}

export function readChunk(connection: Connection, id: string): Chunk | undefined {
  const row = connection.get<{ id: number }>('SELECT id FROM chunks WHERE chunk_id = ?', [id])
  return row === undefined ? undefined : chunkRows(connection, [row.id]).map(toChunk)[0]
}

/** Chunk ids do not follow the text: new chunks of a changed source get higher ids than the chunks around them. */
const IN_ORDER = `FROM chunks WHERE source_id = ? ORDER BY json_extract(details, '$.start')`

export function readDocument(connection: Connection, source: string): SourceDocument | undefined {
  const row = connection.get<{ id: number; details: string; gaps: string }>(
    'SELECT id, details, gaps FROM sources WHERE source = ?',
    [source],
  )
  if (row === undefined) return undefined
  const passages = connection.all<{ text: string }>(`SELECT text ${IN_ORDER}`, [row.id])
  const gaps = JSON.parse(row.gaps) as readonly string[]
  const text = gaps.map((gap, at) => gap + (passages[at]?.text ?? '')).join('')
  return { source, text, ...(JSON.parse(row.details) as object) }
}

/** Call it inside a snapshot. @param chunks before the given chunk, and as many after it. */
export function readAround(connection: Connection, id: string, chunks: number): Surroundings | undefined {
  const asked = connection.get<{ id: number; gaps: string; source_id: number }>(
    'SELECT chunks.id, gaps, source_id FROM chunks JOIN sources ON sources.id = source_id WHERE chunk_id = ?',
    [id],
  )
  if (asked === undefined) return undefined
  const order = connection.all<{ id: number }>(`SELECT id ${IN_ORDER}`, [asked.source_id]).map((row) => row.id)
  const at = order.indexOf(asked.id)
  const first = Math.max(0, at - chunks)
  const near = chunkRows(connection, order.slice(first, at + chunks + 1))
    .map(toChunk)
    .sort((a, b) => a.start - b.start)
  const gaps = JSON.parse(asked.gaps) as readonly string[]
  return {
    text: near.map(({ text }, index) => (index === 0 ? '' : (gaps[first + index] ?? '')) + text).join(''),
    start: near[0]?.start ?? 0,
    chunks: near.map(({ id, source, start, end, headings }) => ({
      id,
      source,
      start,
      end,
      ...(headings === undefined ? {} : { headings }),
    })),
  }
}

/** Call it inside a snapshot. */
export function readStats(connection: Connection): StoreStats {
  const count = (sql: string): number => connection.get<{ n: number }>(sql)?.n ?? 0
  return {
    sources: count('SELECT count(*) AS n FROM sources'),
    chunks: readFact(connection, 'chunks'),
    terms: readFact(connection, 'terms'),
    bytes: count('SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size'),
  }
}
