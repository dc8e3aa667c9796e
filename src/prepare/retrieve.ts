/** Searches the stores for the question, each in its own span. */

import { ATTRIBUTE, inSpan } from '../core/span.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import type { Span } from '../core/span.ts'
import type { ChunkFilter, DocumentSource, FoundChunks, ScoredChunk, StoreNotice } from '../core/store.ts'
import { orAborted } from '../util/promise.ts'
import type { WidenOptions } from './passages/widen.ts'
import type { RerankChoice } from './rerank.ts'
import { describe, isJson, isRecord } from '../util/check.ts'

/** The stores to search, and how their passages get into the request. */
export interface RetrievalOptions {
  /** The store of the documents to answer from. */
  readonly docstore?: DocumentSource
  /** A store of memories, labelled as such in the request. */
  readonly memory?: DocumentSource
  /** Maximum number of chunks from each store; default 20. */
  readonly nResults?: number
  /** Restricts documents to those that match; does not apply to memories. */
  readonly filter?: ChunkFilter
  /** Reranks the chunks of the document store; default none. */
  readonly rerank?: RerankChoice
  /** Extends the best passages by the text around them, if there is room and the model does not only quote. `true`: defaults. Default false. */
  readonly widen?: boolean | WidenOptions
  /**
   * The query for a question that refers to earlier ones of its session: `words` adds words of those, `model` asks a model to rewrite the
   * question (a call before each answer), `off` uses the question unchanged. Default `words`.
   */
  readonly followUps?: FollowUps
}

export const FOLLOW_UPS = ['words', 'model', 'off'] as const
/** How the query is built for a question that refers to earlier ones. */
export type FollowUps = (typeof FOLLOW_UPS)[number]

export const DEFAULT_RESULTS = 20

/** The result of one store. */
export interface Found {
  readonly store: string
  readonly chunks: readonly ScoredChunk[]
  readonly notice?: StoreNotice
}

/** A search request to a store. */
export interface Search {
  readonly query: string
  readonly nResults: number
  readonly span: Span
  readonly signal: AbortSignal
}

/** Options that apply to documents only, not to memories. */
interface Ranking {
  readonly filter: ChunkFilter | undefined
  readonly rerank: RerankChoice | undefined
  readonly clock: Clock
}

/** @throws CriaError `store_failed` if the store fails; an abort is rethrown unchanged. */
export async function findMemories(memory: DocumentSource, search: Search): Promise<Found> {
  return await retrieveFrom(memory, 'memory_retrieval', search)
}

/**
 * Returns the best chunks of the document store, reranked if a reranking model is configured.
 *
 * @throws CriaError `store_failed` if the store fails; an abort is rethrown unchanged.
 */
export async function findDocuments(
  docstore: DocumentSource,
  search: Search,
  { filter, rerank: choice, clock }: Ranking,
): Promise<Found> {
  const { query, nResults, span, signal } = search
  if (choice === undefined || nResults === 0) return await retrieveFrom(docstore, 'retrieval', search, filter)
  const { DEFAULT_CANDIDATES, rerank } = await import('./rerank.ts')
  const candidates = Math.max(nResults, choice.candidates ?? DEFAULT_CANDIDATES)
  const found = await retrieveFrom(docstore, 'retrieval', { ...search, nResults: candidates }, filter)
  const { chunks, notice = found.notice } = await rerank(query, found.chunks, nResults, choice, { span, signal, clock })
  return { store: found.store, chunks, ...(notice === undefined ? {} : { notice }) }
}

function retrieveFrom(
  store: DocumentSource,
  name: 'retrieval' | 'memory_retrieval',
  { query, nResults, span, signal }: Search,
  filter?: ChunkFilter,
): Promise<Found> {
  const attributes = {
    [ATTRIBUTE.operation]: 'retrieval',
    [ATTRIBUTE.dataSource]: store.name,
    [ATTRIBUTE.retrievalQuery]: query,
    [ATTRIBUTE.nResults]: nResults,
    ...(filter === undefined ? {} : { [ATTRIBUTE.filter]: JSON.stringify(filter) }),
  }
  return inSpan(span, name, attributes, async (own) => {
    try {
      const asked =
        filter === undefined
          ? store.retrieve(query, nResults)
          : searching(store).search(query, { limit: nResults, filter, signal })
      const returned = foundChunks(await orAborted(Promise.resolve<unknown>(asked), signal), store.name)
      const { notice } = returned
      // Documents are ordered best first; a memory chooses its messages itself, in order of time.
      const chunks = name === 'retrieval' ? returned.slice(0, nResults) : returned
      own.set({ [name === 'retrieval' ? ATTRIBUTE.documentsRetrieved : ATTRIBUTE.memoriesRetrieved]: chunks.length })
      return { store: store.name, chunks, ...(notice === undefined ? {} : { notice }) }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw toCriaError(error, 'store_failed')
    }
  })
}

/** @throws ConfigurationError if the store has no `search` method. */
export function searching(store: DocumentSource): Required<Pick<DocumentSource, 'search'>> {
  if (typeof store.search === 'function') return store as Required<Pick<DocumentSource, 'search'>>
  throw new ConfigurationError(
    `A filter needs a store with \`search(query, { filter })\`, and ${JSON.stringify(store.name)} has only \`retrieve()\`: leave the filter out, or give the store the method.`,
  )
}

/** @throws CriaError `store_failed` that names the store and the fault of its result. */
function foundChunks(value: unknown, store: string): FoundChunks {
  if (!Array.isArray(value)) throw mistaken(store, `but is ${describe(value)}`)
  for (const [index, chunk] of value.entries()) {
    const problem = problemIn(chunk)
    if (problem !== undefined) throw mistaken(store, problem.replace('#', `its number ${index}`))
  }
  return value as FoundChunks
}

const MEMBERS = {
  id: 'string',
  text: 'string',
  source: 'string',
  start: 'number',
  end: 'number',
  score: 'number',
} as const satisfies Partial<Record<keyof ScoredChunk, string>>

/** Returns the reason that a value is not a valid chunk, with `#` for its number; `undefined` if it is valid. */
function problemIn(chunk: unknown): string | undefined {
  if (typeof chunk !== 'object' || chunk === null) return `but # is ${describe(chunk)}`
  for (const [member, type] of Object.entries(MEMBERS)) {
    const value: unknown = Reflect.get(chunk, member)
    if (typeof value !== type || Number.isNaN(value)) return `but \`${member}\` of # is ${describe(value)}, not a ${type}`
  }
  const metadata: unknown = Reflect.get(chunk, 'metadata')
  if (isRecord(metadata) && isJson(metadata)) return undefined
  return `but \`metadata\` of # is ${describe(metadata)}, not an object of JSON`
}

function mistaken(store: string, problem: string): CriaError {
  const what = `What \`retrieve()\` of the store ${JSON.stringify(store)} returns must be a list of chunks`
  return new CriaError('store_failed', `${what}, ${problem}.`, {
    hint: 'Fix this store, or leave it out; `documentStoreSuite` of cria/testing checks whether a store follows the contract.',
  })
}
