/**
 * Documents, the chunks they are cut into, and the port that every document store implements.
 *
 * All offsets are UTF-16 code units into the *extracted text* of a source, start inclusive, end exclusive, so that
 * `extractedText.slice(chunk.start, chunk.end) === chunk.text` holds for every chunk.
 */

import type { JsonObject } from './json.ts'
import type { Part } from './part.ts'

/** A document as it is given to a store. A bare string is a document whose source is derived from its content. */
export interface SourceDocument {
  /** Where it comes from: a path, a URL or any stable name. A later document with the same source replaces it. */
  readonly source: string
  /** The extracted text. For plain text formats this is the file itself, byte order mark removed. */
  readonly text: string
  /** Names the document to people and models; default none. */
  readonly title?: string
  /** How the text is structured, which decides how it is chunked. Default `text`. */
  readonly format?: DocumentFormat
  /** The text was taken out of another format (PDF, DOCX, HTML), so that its lines are not lines of the source. Default false. */
  readonly extracted?: boolean
  /** Caller's facts about the document, copied to each of its chunks (which may add `page`); usable in filters. */
  readonly metadata?: JsonObject
}

/** How the text of a document is cut into chunks. */
export type DocumentFormat = 'markdown' | 'text' | 'code' | 'json' | 'csv'

/** A document, or its text alone. */
export type DocumentInput = string | SourceDocument

/** A passage of a document. */
export interface Chunk {
  /** Stable for the same source and text, whatever is inserted elsewhere in the document; unique within a store. */
  readonly id: string
  /** The text of the passage. */
  readonly text: string
  /** The document, as it was given to the store. */
  readonly source: string
  /** UTF-16 offset in the text of the document. */
  readonly start: number
  /** UTF-16 offset behind the last character. */
  readonly end: number
  /** Title of the document, where it has one. */
  readonly title?: string
  /** Headings above the passage, outermost first. */
  readonly headings?: readonly string[]
  /** Of source code what is defined in the passage, such as `Reader` and `read`; of Markdown the headings in it. Counts as much as a heading in a search. */
  readonly names?: readonly string[]
  /** 1-based lines of the source that the passage begins and ends on, where the source has lines. */
  readonly lines?: readonly [first: number, last: number]
  /** The metadata of the document. */
  readonly metadata: JsonObject
  /** Set by chat memories alone: the chunk is a message of a conversation, and this is its role. */
  readonly spokenBy?: 'user' | 'assistant' | 'tool'
  /** Beside `spokenBy`: the parts of the message where its text is not all of it, as with images and tool calls. */
  readonly parts?: readonly Part[]
}

/** The 1-based page of the source on which a character of a chunk stands; `undefined` where the source has no pages. Form feeds part pages. */
export function pageAt({ text, metadata }: Pick<Chunk, 'text' | 'metadata'>, offset = 0): number | undefined {
  const { page } = metadata
  return typeof page === 'number' ? page + text.slice(0, offset).split('\f').length - 1 : undefined
}

/** Where a passage stands. */
export interface Place {
  /** Of the chunk. */
  readonly id: string
  /** The document, as the store names it. */
  readonly source: string
  /** UTF-16 offset in the text of the document. */
  readonly start: number
  /** UTF-16 offset behind the last character. */
  readonly end: number
}

/** A chunk that a query found. */
export interface ScoredChunk extends Chunk {
  /** Higher is better; comparable only within one result list. */
  readonly score: number
  /** How well the chunk fits the question, as far as the store knows; absent where it cannot tell. */
  readonly evidence?: Evidence
}

/** The chunks that a store found, with a notice about the search where there is one. */
export type FoundChunks = ScoredChunk[] & {
  /** A notice about this search for the caller; absent: none. */
  readonly notice?: StoreNotice
}

/** Something that made the result less than it could be: an embedding model that does not answer. */
export interface StoreNotice {
  /** Tells notices apart. */
  readonly code: string
  /** The message, in one sentence. */
  readonly message: string
}

/** Why a chunk was found. */
export interface Evidence {
  /** Share (0 to 1) of the question's weight, in inverse document frequency, whose words occur in the chunk. */
  readonly coverage: number
  /** Weight of each analysed word of the question; one object shared by all chunks of a result. */
  readonly weights: Readonly<Record<string, number>>
  /** Words of the question that no chunk has, and the words that were searched for instead: `{ ownrship: 'ownership' }`. */
  readonly corrections?: Readonly<Record<string, string>>
}

/**
 * Keep only chunks that pass each field: whose value is the one given, is described by the pattern, or is one of several of these. Fields are
 * `source`, `title` or keys of `metadata`. What is not there is `null`; of a list in the metadata one element is enough.
 */
export type ChunkFilter = Readonly<Record<string, FilterTest | readonly FilterTest[]>>
/** The values that a member of the metadata is compared with. */
export type FilterTest = FilterValue | FilterPattern
/** A value that a member of the metadata has to equal. */
export type FilterValue = string | number | boolean | null

/**
 * Texts like this one: `docs/**`, `*.md`, `{api,guide}/v[12].*`. Case counts; without `/` it is about the name after the last `/`; with a `!`
 * before it, texts that are not like it.
 */
export interface FilterPattern {
  /** A pattern as in `.gitignore`: `*` within a folder, `**` across folders. */
  readonly glob: string
}

/** Options of one search. */
export interface SearchOptions {
  /** How many chunks at most; default 10. */
  readonly limit?: number
  /** Only chunks whose source and metadata fit; default all. */
  readonly filter?: ChunkFilter
  /** Aborting it ends the search. */
  readonly signal?: AbortSignal
}

/** How much text around a chunk is wanted. */
export interface AroundOptions {
  /** Chunks before it, and as many after it, at most. */
  readonly chunks: number
  /** Aborting it ends the call. */
  readonly signal?: AbortSignal
}

/** The text around a chunk. */
export interface Surroundings {
  /** A part of the extracted text of the source. */
  readonly text: string
  /** Where that part begins. */
  readonly start: number
  /** In the order of the text; the one that was asked about is among them. */
  readonly chunks: readonly (Place & Pick<Chunk, 'headings'>)[]
}

/** The part of a document store that `query()` and QueryBot need. */
export interface DocumentSource {
  /** Name shown in events and on the command line. */
  readonly name: string
  /** The `nResults` best chunks, best first. */
  retrieve(query: string, nResults: number): Promise<FoundChunks>
  /** As `retrieve`, with options. Needed where questions have a filter. */
  search?(query: string, options?: SearchOptions): Promise<FoundChunks>
  /**
   * The text around a chunk: the chunks before and after it in its source, and the text from the first of them to the last. `undefined` when there
   * is no such chunk. Stores that cannot tell leave the method out.
   */
  around?(id: string, options: AroundOptions): Promise<Surroundings | undefined>
}

/** A memory of bots: what they ask of it, and how they add to it. */
export interface MemoryStore extends DocumentSource {
  /** Adds a document; one with a known `source` replaces the earlier one. */
  append(document: DocumentInput): Promise<void>
}

/**
 * The port for anything that keeps documents and finds passages in them.
 *
 * A document is found as soon as it was appended, and after reopening. An empty store, an empty query and a query of stop words find
 * nothing and are no error. Query text is always literal text, never query syntax. Equal scores are ordered stably.
 */
export interface DocumentStore extends MemoryStore {
  search(query: string, options?: SearchOptions): Promise<FoundChunks>
  /** Adds documents; each with a known `source` replaces the earlier one. */
  extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void>
  /** Removes a source and all its chunks; tells whether it was there. */
  delete(source: string): Promise<boolean>
  /** Removes everything. */
  reset(): Promise<void>
  /** Ends what the store has open; a second call does nothing. */
  close(): Promise<void>
}
