/**
 * Documents, the chunks they are cut into, and the port that every document store implements.
 *
 * All offsets are UTF-16 code units into the *extracted text* of a source, start inclusive, end exclusive, so that
 * `extractedText.slice(chunk.start, chunk.end) === chunk.text` holds for every chunk.
 */

import { ConfigurationError } from './error.ts'
import type { JsonObject } from './json.ts'
import type { Part } from './part.ts'

/** A document as passed to a store. A plain string is a document whose source is derived from its content. */
export interface SourceDocument {
  /** Its origin: a path, a URL or any stable name. A later document with the same source replaces it. */
  readonly source: string
  /** The extracted text. For plain text formats this is the file itself, byte order mark removed. */
  readonly text: string
  /** Title for people and models; default none. */
  readonly title?: string
  /** The structure of the text, which determines the chunking. Default `text`. */
  readonly format?: DocumentFormat
  /** `true`: extracted from another format (PDF, DOCX, HTML), so lines of the text are not lines of the source. Default false. */
  readonly extracted?: boolean
  /** The caller's data about the document, copied to each chunk (which may add `page`); usable in filters. */
  readonly metadata?: JsonObject
}

/** The structure of a document, which determines how it is cut into chunks. */
export type DocumentFormat = 'markdown' | 'text' | 'code' | 'json' | 'csv'

/** A document, or its text alone. */
export type DocumentInput = string | SourceDocument

/** A passage of a document. */
export interface Chunk {
  /** Unique within a store. Stable for the same source and text, even if text is inserted elsewhere in the document. */
  readonly id: string
  /** The text of the passage. */
  readonly text: string
  /** The source of the document. */
  readonly source: string
  /** UTF-16 offset in the text of the document. */
  readonly start: number
  /** UTF-16 offset after the last character. */
  readonly end: number
  /** Title of the document, if it has one. */
  readonly title?: string
  /** Headings above the passage, outermost first. */
  readonly headings?: readonly string[]
  /** Names defined in the passage (source code) or headings in it (Markdown). They weigh as much as a heading in a search. */
  readonly names?: readonly string[]
  /** First and last line of the passage in the source, 1-based, if the source has lines. */
  readonly lines?: readonly [first: number, last: number]
  /** The metadata of the document. */
  readonly metadata: JsonObject
  /** Set only by chat memories: the role of the message that this chunk is. */
  readonly spokenBy?: 'user' | 'assistant' | 'tool'
  /** With `spokenBy`: the parts of a message that is more than text, such as images and tool calls. */
  readonly parts?: readonly Part[]
}

/** Returns the 1-based page of a character of a chunk; `undefined` if the source has no pages. Form feeds separate pages. */
export function pageAt({ text, metadata }: Pick<Chunk, 'text' | 'metadata'>, offset = 0): number | undefined {
  const { page } = metadata
  return typeof page === 'number' ? page + text.slice(0, offset).split('\f').length - 1 : undefined
}

/** The place of a passage in a document. */
export interface Place {
  /** Id of the chunk. */
  readonly id: string
  /** The document, as the store names it. */
  readonly source: string
  /** UTF-16 offset in the text of the document. */
  readonly start: number
  /** UTF-16 offset after the last character. */
  readonly end: number
}

/** A chunk that a query found. */
export interface ScoredChunk extends Chunk {
  /** Higher is better; comparable only within one result list. */
  readonly score: number
  /** How well the chunk matches the question; absent if the store does not compute it. */
  readonly evidence?: Evidence
}

/** The chunks that a store found, with a notice about the search where there is one. */
export type FoundChunks = ScoredChunk[] & {
  /** A notice about this search for the caller; absent: none. */
  readonly notice?: StoreNotice
}

/** A problem that made a result worse, such as an embedding model that does not answer. */
export interface StoreNotice {
  /** Code of the notice. */
  readonly code: string
  /** The message, in one sentence. */
  readonly message: string
}

/** Why a chunk was found. */
export interface Evidence {
  /** Share (0 to 1) of the question's words that occur in the chunk, weighted by inverse document frequency. */
  readonly coverage: number
  /** Weight of each analysed word of the question, and of each correction; one object shared by all chunks of a result. */
  readonly weights: Readonly<Record<string, number>>
  /** Words of the question that occur in no chunk, and the words searched for instead: `{ ownrship: 'ownership' }`. */
  readonly corrections?: Readonly<Record<string, string>>
}

/**
 * Selects chunks that match all fields. A field matches if its value equals the given one, matches the pattern, or matches one of a list of
 * these. Fields are `source`, `title` or keys of `metadata`. A missing field is `null`; of a list in the metadata one element must match.
 */
export type ChunkFilter = Readonly<Record<string, FilterTest | readonly FilterTest[]>>
/** A test of one field: a value to equal, or a pattern. */
export type FilterTest = FilterValue | FilterPattern
/** A value that a field must equal. */
export type FilterValue = string | number | boolean | null

/**
 * A glob pattern: `docs/**`, `*.md`, `{api,guide}/v[12].*`. Case-sensitive. Without `/` it matches the name after the last `/`; a leading
 * `!` negates it.
 */
export interface FilterPattern {
  /** A pattern as in `.gitignore`: `*` within a folder, `**` across folders. */
  readonly glob: string
}

/** Options of one search. */
export interface SearchOptions {
  /** Maximum number of chunks; default 10. */
  readonly limit?: number
  /** Only chunks that match the filter; default all. */
  readonly filter?: ChunkFilter
  /** Aborts the search. */
  readonly signal?: AbortSignal
}

/** The amount of text around a chunk. */
export interface AroundOptions {
  /** Maximum number of chunks before it, and of chunks after it. */
  readonly chunks: number
  /** Aborts the call. */
  readonly signal?: AbortSignal
}

/** The text around a chunk. */
export interface Surroundings {
  /** A part of the extracted text of the source. */
  readonly text: string
  /** UTF-16 offset of that part in the source. */
  readonly start: number
  /** The chunks of that part in order, including the one in question. */
  readonly chunks: readonly (Place & Pick<Chunk, 'headings'>)[]
}

/** The part of a document store that `query()` and QueryBot need. */
export interface DocumentSource {
  /** Name shown in events and on the command line. */
  readonly name: string
  /** Returns the `nResults` best chunks, best first. */
  retrieve(query: string, nResults: number): Promise<FoundChunks>
  /** As `retrieve`, with options. Required for questions with a filter. */
  search?(query: string, options?: SearchOptions): Promise<FoundChunks>
  /**
   * Returns the text around a chunk: the chunks before and after it in its source, and the text from the first to the last of them.
   * `undefined` if the chunk does not exist. Optional for stores.
   */
  around?(id: string, options: AroundOptions): Promise<Surroundings | undefined>
}

/** The part of a document store that bots need for a memory: search and append. */
export interface MemoryStore extends DocumentSource {
  /** Adds a document, replacing an earlier one with the same `source`. */
  append(document: DocumentInput): Promise<void>
}

/**
 * The port for anything that keeps documents and finds passages in them.
 *
 * A document is searchable as soon as it has been appended, and after reopening. An empty store, an empty query and a query of stop words
 * return no chunks and no error. Query text is always literal text, never query syntax. Equal scores are ordered stably.
 */
export interface DocumentStore extends MemoryStore {
  search(query: string, options?: SearchOptions): Promise<FoundChunks>
  /** Adds documents, each replacing an earlier one with the same `source`. */
  extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void>
  /** Removes a source and all its chunks; returns `true` if it existed. */
  delete(source: string): Promise<boolean>
  /** Removes all documents. */
  reset(): Promise<void>
  /** Closes the store; a second call does nothing. */
  close(): Promise<void>
}

/** Maximum characters of a glob: longer than any path. Matching costs the length of the pattern times the length of each text. */
const MAX_PATTERN = 4096

/** Checks the shape of a filter. @throws ConfigurationError that names the field, the expected and the received value. */
export function checkFilter(filter: unknown): void {
  if (filter === undefined) return
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw new ConfigurationError('A filter must be an object of fields and values, such as { source: { glob: "docs/**" } }.')
  for (const [field, wanted] of Object.entries(filter)) {
    for (const test of Array.isArray(wanted) ? (wanted as unknown[]) : [wanted]) {
      if (isValue(test) || (isPattern(test) && test.glob.length <= MAX_PATTERN)) continue
      throw new ConfigurationError(
        `The filter of ${JSON.stringify(field.slice(0, 60))} must be a text, a number, true, false, null, { glob: "docs/**" } of at most ${MAX_PATTERN} characters, or a list of these.`,
      )
    }
  }
}

export function isPattern(test: unknown): test is FilterPattern {
  return typeof test === 'object' && test !== null && typeof Reflect.get(test, 'glob') === 'string'
}

function isValue(test: unknown): boolean {
  return test === null || typeof test === 'string' || typeof test === 'boolean' || Number.isFinite(test)
}
