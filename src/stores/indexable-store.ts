/** What a document store needs beside the port so that files can be indexed into it incrementally (`index-files.ts`). */

import type { DocumentStore, SourceDocument } from '../core/store.ts'

/** What an index remembers of a file. The document behind it has the same source. */
export interface IndexedFile {
  readonly source: string
  /** SHA-256 of the file's bytes, hexadecimal. */
  readonly hash: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since the epoch, with fractions. Same size and time as before: not read again. */
  readonly mtimeMs: number
  /** Of the loader and the chunker that made its chunks. */
  readonly version: string
  /** Named by the user itself and not found in a folder, so that no ignore rule takes it out again. */
  readonly isNamed: boolean
  /** Why there is no document, where there is none. */
  readonly skipped?: string
}

/** Each method is one transaction, so that a process that is killed leaves whole files behind, old or new. */
export interface IndexableStore extends DocumentStore {
  indexedFile(source: string): Promise<IndexedFile | undefined>
  /** All of them, in any order; the store may be written to meanwhile. */
  indexedFiles(): AsyncIterable<IndexedFile>
  /** Files with this content, also those that are gone from the disk. */
  indexedFilesByHash(hash: string): Promise<IndexedFile[]>
  /** Replaces what is known of a file and its document; without a document there is none afterwards. Gives the number of chunks. */
  putFile(file: IndexedFile, document?: SourceDocument): Promise<number>
  /** Replaces what is known of a file and leaves its document alone: it was touched and has not changed. */
  touchFile(file: IndexedFile): Promise<void>
  /** The document of `from` stands under `file.source` from now on, its kept text cut again. Gives the number of chunks. */
  moveFile(from: string, file: IndexedFile): Promise<number>
  /** A value that an indexer keeps with the index, such as the folder that sources are relative to. */
  indexSetting(name: string): Promise<string | undefined>
  putIndexSetting(name: string, value: string): Promise<void>
  /** Number of chunks in the store. */
  countChunks(): Promise<number>
}
