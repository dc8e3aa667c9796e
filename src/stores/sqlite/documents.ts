/** Converts documents and chunks to stored rows, and back. */

import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Chunk, DocumentInput, SourceDocument } from '../../core/store.ts'
import { isRecord } from '../../util/check.ts'
import { sha256 } from '../../util/hash.ts'

/** Facts about the file that a document was read from, stored and returned unchanged. */
export interface FileFacts {
  /** SHA-256 of the bytes of the file, hexadecimal. */
  readonly hash?: string
  /** In bytes. */
  readonly size?: number
  /** In epoch milliseconds. */
  readonly modifiedAt?: number
  /** Version of the reader; a source with another recipe is indexed again although its text is unchanged. */
  readonly recipe?: string
}

/** A source without its text. */
export interface SourceState {
  /** Name of the document in the store. */
  readonly source: string
  /** Chunks of the document. */
  readonly chunks: number
  /** SHA-256 of the text, hexadecimal. */
  readonly contentHash: string
  /** Facts about its file at the time of reading. */
  readonly file: FileFacts
}

/** Separates the recipe of the reader from that of the store. */
const RECIPE_MARK = ' | '

export function wholeRecipe(file: FileFacts, storeRecipe: string): string {
  return `${file.recipe ?? ''}${RECIPE_MARK}${storeRecipe}`
}

export function readerRecipe(wholeRecipe: string): string {
  return wholeRecipe.slice(0, Math.max(0, wholeRecipe.lastIndexOf(RECIPE_MARK)))
}

/**
 * Converts an input to a stored document: a string gets a hash as its source; lone surrogates become U+FFFD, which keeps all offsets.
 *
 * @throws CriaError `invalid_request` when it is not a document.
 */
export function toDocument(input: DocumentInput): SourceDocument {
  const given: unknown = input
  if (typeof given === 'string') return { source: `text:${sha256(given).slice(0, 24)}`, text: given.toWellFormed() }
  if (typeof given !== 'object' || given === null) throw notADocument(`is ${given === null ? 'null' : typeof given}`)
  const { source, text, title, metadata } = given as Record<string, unknown>
  if (typeof source !== 'string' || source === '') throw notADocument('has no source')
  const name = JSON.stringify(source.slice(0, 200))
  if (typeof text !== 'string') throw notADocument(`${name} has no text`)
  if (metadata !== undefined && !isRecord(metadata)) throw notADocument(`${name} has metadata that is not an object`)
  try {
    JSON.stringify({ ...given, text: undefined })
  } catch (cause) {
    throw notADocument(`${name} holds a value that is not JSON`, cause)
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

/** Returns a hash that is equal for documents with equal stored content. */
export function contentHash({ source: _, ...content }: SourceDocument): string {
  return sha256(JSON.stringify(content))
}

export function documentDetails({ source: _source, text: _text, ...details }: SourceDocument): string {
  return JSON.stringify(details)
}

export function chunkDetails({ id: _id, source: _source, text: _text, ...details }: Chunk): string {
  return JSON.stringify(details)
}

/** Returns the parts of a text outside its chunks: before each chunk, in order, and after the last. */
export function gapsOf(text: string, chunks: readonly Chunk[]): string {
  let from = 0
  const gaps = chunks.map(({ start, end }) => {
    const gap = text.slice(from, start)
    from = end
    return gap
  })
  return JSON.stringify([...gaps, text.slice(from)])
}

/** A stored chunk. */
export interface ChunkRow {
  readonly id: number
  readonly chunk_id: string
  readonly source: string
  /** The chunk without its id, source and text, as JSON. */
  readonly details: string
  readonly text: string
}

/** Restores a chunk from its row, with its original text and metadata. */
export function toChunk({ chunk_id: id, source, details, text }: ChunkRow): Chunk {
  const read = JSON.parse(details) as { start: number; end: number; metadata: JsonObject }
  return { id, text, source, ...read }
}
