/** Puts documents into a store and takes them out; each function is called inside a transaction. */

import type { CriaError } from '../../core/error.ts'
import type { Chunk, SourceDocument } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { chunkDetails, contentHash, documentDetails, gapsOf, wholeRecipe } from './documents.ts'
import type { ChunkRow, FileFacts } from './documents.ts'
import { readFact, writeFact } from './facts.ts'
import type { IndexWriter } from './index-writer.ts'
import { sourceRows } from './sources.ts'
import { removeOthers, removeVectors } from './vectors.ts'

/** The outcome for a document that was put into a store. */
export type Outcome = 'added' | 'changed' | 'unchanged'

/** What became of a document among many. One that failed alone does not stop the others. */
export type PutResult =
  | {
      /** The document, as the store names it. */
      readonly source: string
      /** What became of it. */
      readonly outcome: Outcome
    }
  | {
      readonly source: string
      readonly outcome: 'failed'
      /** Why it failed. */
      readonly error: CriaError
    }

export interface Addition {
  readonly document: SourceDocument
  readonly file: FileFacts
}

/** Cuts a document; called only for those that are new or changed. */
export type Chunker = (document: SourceDocument) => readonly Chunk[]

type KeptChunk = Pick<ChunkRow, 'id' | 'chunk_id' | 'details'>

/** What the index has to learn and to forget; gathered over several sources, so that their terms are written together. */
interface Changes {
  readonly added: [id: number, chunk: Chunk][]
  readonly removed: number[]
}

/**
 * Puts documents in place of those with the same source. One whose content and recipe are what they were is left as it is, but for what
 * is known of its file.
 */
export function putDocuments(
  connection: Connection,
  index: IndexWriter,
  additions: readonly Addition[],
  chunker: Chunker,
  storeRecipe: string,
): Outcome[] {
  const changes: Changes = { added: [], removed: [] }
  const outcomes = additions.map((addition) => putDocument(connection, addition, chunker, storeRecipe, changes))
  apply(connection, index, changes)
  return outcomes
}

/** Tells which of the sources were there. */
export function removeSources(connection: Connection, index: IndexWriter, sources: readonly string[]): boolean[] {
  const changes: Changes = { added: [], removed: [] }
  const removed = sources.map((source) => {
    const row = connection.get<{ id: number }>('DELETE FROM sources WHERE source = ? RETURNING id', [source])
    if (row === undefined) return false
    const gone = connection.all<{ id: number }>('DELETE FROM chunks WHERE source_id = ? RETURNING id', [row.id])
    for (const { id } of gone) changes.removed.push(id)
    return true
  })
  apply(connection, index, changes)
  return removed
}

const INDEX_TABLES = ['sequences', 'terms', 'numbers', 'blocks', 'lists']

function resetFacts(connection: Connection): void {
  for (const fact of ['chunks', 'length', 'terms', 'compacted_chunks', 'compacted_terms'] as const) writeFact(connection, fact, 0)
}

/** Removes everything. */
export function removeAll(connection: Connection, index: IndexWriter): void {
  index.forget()
  for (const table of ['sources', 'chunks', ...INDEX_TABLES]) connection.run(`DELETE FROM ${table}`)
  removeOthers(connection, [])
  resetFacts(connection)
  for (const fact of ['next_chunk', 'next_term'] as const) writeFact(connection, fact, 1)
  index.noteChange()
}

/** Analyses all chunks again, after the analyzer has changed. */
export function indexAgain(connection: Connection, index: IndexWriter, batch = 4096): void {
  index.forget()
  for (const table of INDEX_TABLES) connection.run(`DELETE FROM ${table}`)
  resetFacts(connection)
  writeFact(connection, 'next_term', 1)
  let last = 0
  for (;;) {
    const rows = connection.all<{ id: number; chunk_id: string; details: string; text: string }>(
      'SELECT id, chunk_id, details, text FROM chunks WHERE id > ? ORDER BY id LIMIT ?',
      [last, batch],
    )
    const end = rows.at(-1)
    if (end === undefined) break
    last = end.id
    index.add(
      rows.map(({ id, chunk_id, details, text }) => {
        return [id, { ...(JSON.parse(details) as Pick<Chunk, 'title' | 'headings' | 'names'>), id: chunk_id, text }]
      }),
    )
  }
  index.noteChange()
}

/** New terms first: a term that only moves from one chunk to another is never forgotten. */
function apply(connection: Connection, index: IndexWriter, { added, removed }: Changes): void {
  if (added.length > 0) index.add(added)
  if (removed.length > 0) {
    index.remove(removed)
    removeVectors(connection, removed)
  }
  if (added.length > 0 || removed.length > 0) index.noteChange()
}

function putDocument(
  connection: Connection,
  { document, file }: Addition,
  chunker: Chunker,
  storeRecipe: string,
  changes: Changes,
): Outcome {
  const hash = contentHash(document)
  const recipe = wholeRecipe(file, storeRecipe)
  const facts = [file.hash ?? null, file.size ?? null, file.modifiedAt ?? null] as const
  const [known] = sourceRows(connection, 'WHERE source = ?', document.source)
  if (known !== undefined && known.content_hash === hash && known.recipe === recipe) {
    const same = known.file_hash === facts[0] && known.file_size === facts[1] && known.modified_at === facts[2]
    if (!same) {
      connection.run('UPDATE sources SET file_hash = ?, file_size = ?, modified_at = ? WHERE id = ?', [...facts, known.id])
    }
    return 'unchanged'
  }
  const chunks = chunker(document)
  const values = [hash, recipe, chunks.length, ...facts, documentDetails(document), gapsOf(document.text, chunks)] as const
  if (known === undefined) {
    const id = connection.insert(
      `INSERT INTO sources (source, content_hash, recipe, chunks, file_hash, file_size, modified_at, details, gaps)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [document.source, ...values],
    )
    insertChunks(connection, id, chunks, changes)
    return 'added'
  }
  connection.run(
    `UPDATE sources SET content_hash = ?, recipe = ?, chunks = ?, file_hash = ?, file_size = ?, modified_at = ?, details = ?, gaps = ?
     WHERE id = ?`,
    [...values, known.id],
  )
  replaceChunks(connection, known.id, chunks, changes)
  return 'changed'
}

/** Chunks that are what they were, but for their place, keep their row and their entry in the index. */
function replaceChunks(connection: Connection, sourceId: number, chunks: readonly Chunk[], changes: Changes): void {
  const kept = connection.all<KeptChunk>('SELECT id, chunk_id, details FROM chunks WHERE source_id = ?', [sourceId])
  const left = new Map(kept.map((chunk) => [chunk.chunk_id, chunk]))
  const fresh: Chunk[] = []
  for (const chunk of chunks) {
    const before = left.get(chunk.id)
    if (before === undefined || !isIndexedAlike(chunk, before)) {
      fresh.push(chunk)
      continue
    }
    left.delete(chunk.id)
    const details = chunkDetails(chunk)
    if (details !== before.details) connection.run('UPDATE chunks SET details = ? WHERE id = ?', [details, before.id])
  }
  for (const { id } of left.values()) {
    connection.run('DELETE FROM chunks WHERE id = ?', [id])
    changes.removed.push(id)
  }
  insertChunks(connection, sourceId, fresh, changes)
}

/** The id stands for the text; title and headings are indexed with it. */
function isIndexedAlike(chunk: Chunk, before: KeptChunk): boolean {
  const { title, headings } = JSON.parse(before.details) as Pick<Chunk, 'title' | 'headings'>
  return chunk.title === title && JSON.stringify(chunk.headings) === JSON.stringify(headings)
}

function insertChunks(connection: Connection, sourceId: number, chunks: readonly Chunk[], changes: Changes): void {
  let next = readFact(connection, 'next_chunk')
  for (const chunk of chunks) {
    connection.run('INSERT INTO chunks (id, source_id, chunk_id, details, text) VALUES (?, ?, ?, ?, ?)', [
      next,
      sourceId,
      chunk.id,
      chunkDetails(chunk),
      chunk.text,
    ])
    changes.added.push([next++, chunk])
  }
  writeFact(connection, 'next_chunk', next)
}
