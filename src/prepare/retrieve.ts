/** Asks stores for what belongs to the question, each under its own span. */

import { ATTRIBUTE } from '../core/attributes.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import type { Span } from '../core/span.ts'
import { inSpan } from '../core/span.ts'
import type { ChunkFilter, DocumentSource, FoundChunks, ScoredChunk, StoreNotice } from '../core/store.ts'
import { orAborted } from '../util/promise.ts'
import type { WidenOptions } from './passages/widen.ts'
import type { RerankChoice } from './rerank.ts'
import { describe, isJson, isRecord } from '../util/check.ts'

/** Where passages are looked for, and how they get into the request. */
export interface RetrievalOptions {
  /** Answers come from here. */
  readonly docstore?: DocumentSource
  /** A second store: memories, labelled as such. */
  readonly memory?: DocumentSource
  /** Chunks from each store at most; default 20. */
  readonly nResults?: number
  /** Only documents that pass it are found; memories are not asked about it. */
  readonly filter?: ChunkFilter
  /** Puts what the document store found in another order; default nothing does. */
  readonly rerank?: RerankChoice
  /** Adds what stands around the best passages, as far as there is room; for models that read. `true` is the defaults. Default false. */
  readonly widen?: boolean | WidenOptions
  /**
   * The query when a question leans on earlier ones of its session: `words` adds the words that it leans on, `model` asks a model to write
   * the question out (a call before each answer), `off` takes the question as it is. Default `words`.
   */
  readonly followUps?: FollowUps
}

export const FOLLOW_UPS = ['words', 'model', 'off'] as const
/** How a question that refers to earlier ones is searched for. */
export type FollowUps = (typeof FOLLOW_UPS)[number]

export const DEFAULT_RESULTS = 20

/** The result of one store. */
export interface Found {
  readonly store: string
  readonly chunks: readonly ScoredChunk[]
  readonly notice?: StoreNotice
}

/** A question to a store. */
export interface Search {
  readonly query: string
  readonly nResults: number
  readonly span: Span
  readonly signal: AbortSignal
}

/** Of the documents; memories are not asked about it. */
interface Ranking {
  readonly filter: ChunkFilter | undefined
  readonly rerank: RerankChoice | undefined
  readonly clock: Clock
}

/** @throws CriaError `store_failed` when the store fails; an abort is passed on as it is. */
export async function findMemories(memory: DocumentSource, search: Search): Promise<Found> {
  return await retrieveFrom(memory, 'memory_retrieval', search)
}

/**
 * The best documents, in the order of the model that ranks them where there is one.
 *
 * @throws CriaError `store_failed` when the store fails; an abort is passed on as it is.
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
      // Documents come best first; a memory tells in order of time what it sees fit.
      const chunks = name === 'retrieval' ? returned.slice(0, nResults) : returned
      own.set({ [name === 'retrieval' ? ATTRIBUTE.documentsRetrieved : ATTRIBUTE.memoriesRetrieved]: chunks.length })
      return { store: store.name, chunks, ...(notice === undefined ? {} : { notice }) }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw toCriaError(error, 'store_failed')
    }
  })
}

/** @throws ConfigurationError for a store that can only retrieve. */
export function searching(store: DocumentSource): Required<Pick<DocumentSource, 'search'>> {
  if (typeof store.search === 'function') return store as Required<Pick<DocumentSource, 'search'>>
  throw new ConfigurationError(
    `A filter needs a store with \`search(query, { filter })\`, and ${JSON.stringify(store.name)} has only \`retrieve()\`: leave the filter out, or give the store the method.`,
  )
}

/** @throws CriaError `store_failed` that names the store and what is wrong with what it returned. */
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

/** The reason that a value is no chunk, with `#` in the place of its number; `undefined` when it is one. */
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
    hint: 'Mend this store, or leave it out; `documentStoreSuite` of cria/testing tells whether a store does what is asked of it.',
  })
}
