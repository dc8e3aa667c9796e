/** Puts documents into a store and removes them; call each function inside a transaction. */

import type { CriaError } from '../../core/error.ts'
import type { Chunk, SourceDocument } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { chunkDetails, contentHash, documentDetails, gapsOf, wholeRecipe } from './documents.ts'
import type { ChunkRow, FileFacts } from './documents.ts'
import { readFact, writeFact } from './facts.ts'
import type { IndexWriter } from './index-writer.ts'
import { sourceRows } from './sources.ts'
import { removeOthers, removeVectors } from './vectors.ts'

/** The outcome of putting a document into a store. */
export type Outcome = 'added' | 'changed' | 'unchanged'

/** The result for one of many documents. The failure of one document does not stop the others. */
export type PutResult =
  | {
      /** Name of the document in the store. */
      readonly source: string
      /** The outcome for the document. */
      readonly outcome: Outcome
    }
  | {
      readonly source: string
      readonly outcome: 'failed'
      /** Reason of the failure. */
      readonly error: CriaError
    }

export interface Addition {
  readonly document: SourceDocument
  readonly file: FileFacts
}

/** Cuts a document; called only for new or changed documents. */
export type Chunker = (document: SourceDocument) => readonly Chunk[]

type KeptChunk = Pick<ChunkRow, 'id' | 'chunk_id' | 'details'>

/** Additions and removals for the index, collected over several sources, so that their terms are written together. */
interface Changes {
  readonly added: [id: number, chunk: Chunk][]
  readonly removed: number[]
}

/** Replaces documents with the same source. If content and recipe (how it was read and cut) are unchanged, only the file facts are updated. */
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

/** Removes sources; returns for each whether it existed. */
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

/** Removes all documents and their index. */
export function removeAll(connection: Connection, index: IndexWriter): void {
  index.forget()
  for (const table of ['sources', 'chunks', ...INDEX_TABLES]) connection.run(`DELETE FROM ${table}`)
  removeOthers(connection, [])
  resetFacts(connection)
  for (const fact of ['next_chunk', 'next_term'] as const) writeFact(connection, fact, 1)
  index.noteChange()
}

/** Indexes all chunks again, after a change of the analyzer. */
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

/** Adds new terms first, so that a term that only moves to another chunk is never removed. */
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

/** Replaces the chunks of a source. Chunks that only moved keep their row and their index entry. */
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

/** Reports whether the index entry stays valid. Equal ids mean equal text, so only title and headings are compared. */
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
