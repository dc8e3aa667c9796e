/** What a document store needs beside the port so that files can be indexed into it incrementally (`index-files.ts`). */

import type { DocumentStore, SourceDocument } from '../../core/store.ts'

/** What is known of the file that a document was read from. */
export interface FileFacts {
  /** SHA-256 of the bytes of the file, hexadecimal. */
  readonly hash?: string
  /** In bytes. */
  readonly size?: number
  /** In epoch milliseconds. */
  readonly modifiedAt?: number
  /** How the file was read. A source with another recipe is cut again although its text is the same. */
  readonly recipe?: string
}

export interface IndexedSource {
  readonly source: string
  /** Number of its chunks. */
  readonly chunks: number
  readonly file: FileFacts
}

export interface FileDocument {
  readonly document: SourceDocument
  readonly file?: FileFacts
}

export type PutOutcome = 'added' | 'changed' | 'unchanged'

/** What became of a document. One that failed alone, because it is too large for the memory there is, does not stop the others. */
export type PutResult =
  | { readonly source: string; readonly outcome: PutOutcome }
  | { readonly source: string; readonly outcome: 'failed'; readonly error: Error }

/** A source is replaced, moved or removed as a whole or not at all, whenever the process ends. */
export interface IndexableStore extends DocumentStore {
  /** Puts each document in place of the one with the same source; yields what became of it once it is stored. The signal stops it in the middle. */
  putAll(documents: Iterable<FileDocument> | AsyncIterable<FileDocument>, signal?: AbortSignal): AsyncIterable<PutResult>
  /** Gives a source another name. Returns false when there is none, or the other exists already. */
  move(from: string, to: string, file?: FileFacts): Promise<boolean>
  deleteAll(sources: readonly string[]): Promise<boolean[]>
  getSource(source: string): Promise<IndexedSource | undefined>
  getDocument(source: string): Promise<SourceDocument | undefined>
  /** All of them; what is written meanwhile may or may not be among them. */
  sources(): Iterable<IndexedSource>
  /** Those whose files had these bytes. */
  sourcesWithHash(fileHash: string): Promise<IndexedSource[]>
}
