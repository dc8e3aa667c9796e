/** Reads the statistics of all chunks that every query needs, kept until the index changes, and the text around a chunk. */

import type { CorpusSize } from '../rank/bm25.ts'
import type { Scored } from '../rank/blend.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readFact } from './facts.ts'
import { readNumbers } from './numbers.ts'
import type { Surroundings } from '../../core/store.ts'
import { toChunk } from './documents.ts'
import type { ChunkRow } from './documents.ts'

export interface Corpus extends CorpusSize {
  /** Terms of each chunk by id, weighted by field; 0 where there is no chunk. */
  readonly lengths: Uint32Array
  /** Orders chunks of equal score. */
  readonly keys: Uint32Array
  /** Chunks that have each term, by id; 0 for a term that none has. */
  readonly frequencies: Uint32Array
  /** Different terms there are. */
  readonly terms: number
}

export class CorpusCache {
  #changes = -1
  #corpus: Corpus | undefined

  /** Inside the snapshot in which the query is answered. */
  of(connection: Connection): Corpus {
    const changes = readFact(connection, 'changes')
    if (this.#corpus === undefined || changes !== this.#changes) {
      const chunks = readFact(connection, 'chunks')
      this.#corpus = {
        chunks,
        averageLength: chunks === 0 ? 1 : readFact(connection, 'length') / chunks,
        terms: readFact(connection, 'terms'),
        lengths: readNumbers(connection, 'lengths'),
        keys: readNumbers(connection, 'keys'),
        frequencies: readNumbers(connection, 'frequencies'),
      }
      this.#changes = changes
    }
    return this.#corpus
  }
}

export function emptyScores({ lengths, keys }: Corpus): Scored {
  return { scores: new Float64Array(lengths.length), keys }
}

/** Inside a snapshot. @param chunks before it, and as many after it. */
export function readAround(connection: Connection, id: string, chunks: number): Surroundings | undefined {
  const asked = connection.get<{ id: number; source_id: number }>('SELECT id, source_id FROM chunks WHERE chunk_id = ?', [id])
  if (asked === undefined) return undefined
  // Ids of chunks are in no order: those of a source that was changed are older than those between them.
  const order = connection.all<{ id: number }>(
    `SELECT id FROM chunks WHERE source_id = ? ORDER BY json_extract(details, '$.start')`,
    [asked.source_id],
  )
  const at = order.findIndex((row) => row.id === asked.id)
  const first = Math.max(0, at - chunks)
  const wanted = order.slice(first, at + chunks + 1).map((row) => row.id)
  const rows = connection.all<ChunkRow>(
    `SELECT chunk_id, source, chunks.details, chunks.text FROM chunks JOIN sources ON sources.id = source_id
     WHERE chunks.id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(wanted)],
  )
  const near = rows.map(toChunk).sort((a, b) => a.start - b.start)
  const gaps = JSON.parse(
    connection.get<{ gaps: string }>('SELECT gaps FROM sources WHERE id = ?', [asked.source_id])?.gaps ?? '[]',
  ) as readonly string[]
  return {
    text: near.map(({ text }, index) => (index === 0 ? '' : (gaps[first + index] ?? '')) + text).join(''),
    start: near[0]?.start ?? 0,
    chunks: near.map(({ id: chunkId, source, start, end, headings }) => ({
      id: chunkId,
      source,
      start,
      end,
      ...(headings === undefined ? {} : { headings }),
    })),
  }
}
