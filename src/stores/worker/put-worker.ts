/** Thread that puts documents into a store: one transaction per request. */

import { parentPort } from 'node:worker_threads'
import { toCriaError } from '../../core/error.ts'
import type { ErrorInfo } from '../../core/error.ts'
import type { ThreadProgress } from '../../util/threads.ts'
import { chunkDocument } from '../chunk/chunk-document.ts'
import type { ChunkOptions } from '../chunk/chunk-document.ts'
import { openStoreFile } from '../sqlite/file.ts'
import { IndexWriter } from '../sqlite/index-writer.ts'
import { putDocuments } from '../sqlite/write.ts'
import type { Addition, Chunker, Outcome } from '../sqlite/write.ts'

export interface PutJob {
  readonly path: string
  readonly synchronous: 'normal' | 'full'
  readonly chunk: ChunkOptions
  readonly recipe: string
  readonly additions: readonly Addition[]
}

export type PutAnswer = { readonly outcomes: Outcome[] } | { readonly error: ErrorInfo }

function put({ path, synchronous, chunk, recipe, additions }: PutJob): PutAnswer {
  try {
    const connection = openStoreFile({ path, readOnly: false, synchronous })
    try {
      let total = 0
      const index = new IndexWriter(connection, (added) => send({ share: added / Math.max(added, total) }))
      const cut: Chunker = (document) => {
        const chunks = chunkDocument(document, chunk)
        total += chunks.length
        return chunks
      }
      return { outcomes: connection.write(() => putDocuments(connection, index, additions, cut, recipe)) }
    } finally {
      connection.close()
    }
  } catch (thrown) {
    return { error: toCriaError(thrown, 'store_failed').toJSON() }
  }
}

function send(message: PutAnswer | ThreadProgress): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(message)
}

parentPort?.on('message', (job: PutJob) => send(put(job)))
