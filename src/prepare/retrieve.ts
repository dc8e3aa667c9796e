/** Asks stores for what belongs to the question, each under its own span. */

import { ATTRIBUTE } from '../core/attributes.ts'
import { toCriaError } from '../core/error.ts'
import type { RetrievedRef } from '../core/event.ts'
import type { Span } from '../core/span.ts'
import { inSpan } from '../core/span.ts'
import type { DocumentStore } from '../core/store.ts'
import { orAborted } from '../util/abort.ts'
import type { Found } from './compose.ts'
import { foundChunks } from './found-chunks.ts'

export interface RetrievalOptions {
  /** Answers come from here. */
  readonly docstore?: DocumentStore
  /** A second store: memories, labelled as such. */
  readonly memory?: DocumentStore
  /** Chunks from each store at most; default 20. */
  readonly nResults?: number
}

export const DEFAULT_RESULTS = 20

/** @throws CriaError `store_failed` when the store fails; an abort is passed on as it is. */
export function retrieveFrom(
  store: DocumentStore,
  query: string,
  nResults: number,
  { name, span, signal }: { readonly name: 'retrieval' | 'memory_retrieval'; readonly span: Span; readonly signal: AbortSignal },
): Promise<Found> {
  const attributes = {
    [ATTRIBUTE.operation]: 'retrieval',
    [ATTRIBUTE.dataSource]: store.name,
    [ATTRIBUTE.retrievalQuery]: query,
    [ATTRIBUTE.nResults]: nResults,
  }
  return inSpan(span, name, attributes, async (own) => {
    try {
      const found: unknown = await orAborted(Promise.resolve(store.retrieve(query, nResults)), signal)
      const chunks = foundChunks(found, store.name)
      own.set({ [name === 'retrieval' ? ATTRIBUTE.documentsRetrieved : ATTRIBUTE.memoriesRetrieved]: chunks.length })
      return { store: store.name, chunks }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw toCriaError(error, 'store_failed')
    }
  })
}

export function references(found: Found): RetrievedRef[] {
  return found.chunks.map(({ id, source, start, end, score }) => ({ id, source, start, end, score }))
}
