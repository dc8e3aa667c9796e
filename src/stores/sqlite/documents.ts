/** Documents and chunks as they are kept, and as they are given back. */

import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Chunk, DocumentInput, SourceDocument } from '../../core/store.ts'
import { isRecord } from '../../util/check.ts'
import { sha256 } from '../../util/hash.ts'
import type { Connection } from '../../util/sqlite/connection.ts'

/** What is known of the file that a document was read from; what the reader gives is kept and given back. */
export interface FileFacts {
  /** Of the bytes of the file. */
  readonly hash?: string
  /** In bytes. */
  readonly size?: number
  /** In epoch milliseconds. */
  readonly modifiedAt?: number
  /** Versions of whatever reads the file; a source with another recipe is indexed again although its text is the same. */
  readonly recipe?: string
}

/** A source without its text. */
export interface SourceState {
  /** The document, as the store names it. */
  readonly source: string
  /** Chunks of the document. */
  readonly chunks: number
  /** SHA-256 of the text, hexadecimal. */
  readonly contentHash: string
  /** What was known of its file when it was read. */
  readonly file: FileFacts
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

export const SOURCE_COLUMNS = 'id, source, content_hash, recipe, chunks, file_hash, file_size, modified_at'

/** Stands between the recipe of the reader and that of the store. */
const RECIPE_MARK = ' | '

export function stateOf(row: SourceRow): SourceState {
  const recipe = row.recipe.slice(0, Math.max(0, row.recipe.lastIndexOf(RECIPE_MARK)))
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

export function wholeRecipe(file: FileFacts, storeRecipe: string): string {
  return `${file.recipe ?? ''}${RECIPE_MARK}${storeRecipe}`
}

/**
 * Makes a document as stores keep it: a text gets a source, a hash of it; lone surrogates become U+FFFD, which leaves every offset where it was.
 *
 * @throws CriaError `invalid_request` when it is not a document.
 */
export function toDocument(input: DocumentInput): SourceDocument {
  const given: unknown = input
  if (typeof given === 'string') return { source: `text:${sha256(given).slice(0, 24)}`, text: given.toWellFormed() }
  if (typeof given !== 'object' || given === null) throw notADocument(`is ${given === null ? 'null' : typeof given}`)
  const { source, text, title, metadata } = given as Record<string, unknown>
  if (typeof source !== 'string' || source === '') throw notADocument('has no source')
  if (typeof text !== 'string') throw notADocument(`${JSON.stringify(source.slice(0, 200))} has no text`)
  if (metadata !== undefined && !isRecord(metadata))
    throw notADocument(`${JSON.stringify(source.slice(0, 200))} has metadata that is no object`)
  try {
    JSON.stringify({ ...given, text: undefined })
  } catch (cause) {
    throw notADocument(`${JSON.stringify(source.slice(0, 200))} holds what is no JSON`, cause)
  }
  return {
    ...(given as SourceDocument),
    source: source.toWellFormed(),
    text: text.toWellFormed(),
    ...(typeof title === 'string' ? { title: title.toWellFormed() } : {}),
  }
}

function notADocument(what: string, cause?: unknown): CriaError {
  return new CriaError('invalid_request', `A document must be a string or { source, text, … }, but this one ${what}.`, { cause })
}

/** Equal for documents that are the same in all that is kept of them. */
export function contentHash({ source: _, ...content }: SourceDocument): string {
  return sha256(JSON.stringify(content))
}

export function detailsOf({ source: _source, text: _text, ...details }: SourceDocument): string {
  return JSON.stringify(details)
}

/** What of a text is in none of its chunks: what stands before each, in their order, and after the last. */
export function gapsOf(text: string, chunks: readonly Chunk[]): string {
  let from = 0
  const gaps = chunks.map(({ start, end }) => {
    const gap = text.slice(from, start)
    from = end
    return gap
  })
  return JSON.stringify([...gaps, text.slice(from)])
}

export function readDocument(connection: Connection, source: string): SourceDocument | undefined {
  const row = connection.get<{ id: number; details: string; gaps: string }>(
    'SELECT id, details, gaps FROM sources WHERE source = ?',
    [source],
  )
  if (row === undefined) return undefined
  const passages = connection
    .all<{ details: string; text: string }>('SELECT details, text FROM chunks WHERE source_id = ?', [row.id])
    .map(({ details, text }) => ({ start: (JSON.parse(details) as Pick<Chunk, 'start'>).start, text }))
    .sort((a, b) => a.start - b.start)
  const gaps = JSON.parse(row.gaps) as readonly string[]
  const text = gaps.map((gap, at) => gap + (passages[at]?.text ?? '')).join('')
  return { source, text, ...(JSON.parse(row.details) as object) }
}

export interface ChunkRow {
  readonly chunk_id: string
  readonly source: string
  readonly details: string
  readonly text: string
}

export const CHUNK_COLUMNS = 'chunks.id, chunk_id, source, chunks.details, chunks.text'

export function chunkDetails({ id: _id, source: _source, text: _text, ...details }: Chunk): string {
  return JSON.stringify(details)
}

/** A chunk of a row; `text` and metadata are as they were given. */
export function toChunk({ chunk_id: id, source, details, text }: ChunkRow): Chunk {
  const read = JSON.parse(details) as { start: number; end: number; metadata: JsonObject }
  return { id, text, source, ...read }
}
