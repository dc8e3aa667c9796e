/** Reads the sources of a store by name. */

import type { Chunk } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { CHUNK_COLUMNS, SOURCE_COLUMNS, stateOf, toChunk } from './documents.ts'
import type { ChunkRow, SourceRow, SourceState } from './documents.ts'
import { readFact } from './facts.ts'

/** The contents of a store, counted. */
export interface StoreStats {
  /** Documents. */
  readonly sources: number
  /** Chunks of all documents. */
  readonly chunks: number
  /** Different words in the index. */
  readonly terms: number
  /** Size of the file. */
  readonly bytes: number
}

const PAGE = 500

export function readSource(connection: Connection, source: string): SourceState | undefined {
  const row = connection.get<SourceRow>(`SELECT ${SOURCE_COLUMNS} FROM sources WHERE source = ?`, [source])
  return row === undefined ? undefined : stateOf(row)
}

/** All sources, by name; a page at a time, so that none is locked meanwhile. */
export function* readSources(connection: Connection): Generator<SourceState> {
  let after = ''
  for (;;) {
    const rows = connection.all<SourceRow>(
      `SELECT ${SOURCE_COLUMNS} FROM sources WHERE source > ? ORDER BY source LIMIT ${PAGE}`,
      [after],
    )
    for (const row of rows) yield stateOf(row)
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.source
  }
}

export function sourcesWithHash(connection: Connection, fileHash: string): SourceState[] {
  return connection
    .all<SourceRow>(`SELECT ${SOURCE_COLUMNS} FROM sources WHERE file_hash = ? ORDER BY source`, [fileHash])
    .map(stateOf)
}

export function readChunk(connection: Connection, id: string): Chunk | undefined {
  const row = connection.get<ChunkRow>(
    `SELECT ${CHUNK_COLUMNS} FROM chunks JOIN sources ON sources.id = source_id WHERE chunk_id = ?`,
    [id],
  )
  return row === undefined ? undefined : toChunk(row)
}

/** The sources of some chunks, each once, by name. */
export function sourcesOfChunks(connection: Connection, ids: readonly number[]): string[] {
  return connection
    .all<{ source: string }>(
      `SELECT DISTINCT source FROM chunks JOIN sources ON sources.id = source_id
       WHERE chunks.id IN (SELECT value FROM json_each(?)) ORDER BY source`,
      [JSON.stringify(ids)],
    )
    .map(({ source }) => source)
}

/** Inside a snapshot. */
export function readStats(connection: Connection): StoreStats {
  const count = (sql: string): number => connection.get<{ n: number }>(sql)?.n ?? 0
  return {
    sources: count('SELECT count(*) AS n FROM sources'),
    chunks: readFact(connection, 'chunks'),
    terms: readFact(connection, 'terms'),
    bytes: count('SELECT page_count * page_size AS n FROM pragma_page_count, pragma_page_size'),
  }
}
