/** Measures retrieval on a collection, for `cria eval retrieval`. */

import { open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ConfigurationError, CriaError, toCriaError } from '../../core/error.ts'
import type { DocumentStore, ScoredChunk, SourceDocument } from '../../core/store.ts'
import { checkBeirFolder, readCorpus, readJudgments, readQueries } from './collection.ts'
import { measureRun, percentile, rankingOf } from './metrics.ts'
import type { RankedDocument, RankingMeasures } from './metrics.ts'
import type { Run } from './collection.ts'

export interface RetrievalReport extends RankingMeasures {
  /** Documents found for each query. */
  readonly run: Run
  readonly collection: string
  /** Queries that have a relevant document. */
  readonly queries: number
  /** Wall time of a search in milliseconds. */
  readonly msPerQuery: { readonly p50: number; readonly p99: number }
  readonly indexMs: number
  /** Queries with judgments, and relevant documents, that the collection lacks: they count as not found. */
  readonly unmatched: { readonly queries: number; readonly documents: number }
}

export interface EvaluateRetrievalOptions {
  /** Documents requested for each query; default 100. */
  readonly k?: number | undefined
  /** File that receives the run, in the format of TREC. */
  readonly run?: string | undefined
  readonly onProgress?: ((phase: 'index' | 'search', done: number, of: number | undefined) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

const DEFAULT_K = 100
/** Chunks requested at first for each wanted document, since several chunks may belong to one document. */
const CHUNKS_PER_DOCUMENT = 2
const TAG = 'cria'

/**
 * Indexes the corpus of a BEIR folder into an empty store and runs all its queries. A document has the score of its best chunk.
 *
 * @throws CriaError `not_found` or `invalid_request` when the folder is not a valid BEIR folder, `aborted` when the signal is aborted.
 */
export async function evaluateRetrieval(
  folder: string,
  store: DocumentStore,
  options: EvaluateRetrievalOptions = {},
): Promise<RetrievalReport> {
  const { k = DEFAULT_K, onProgress, signal } = options
  if (!Number.isInteger(k) || k < 1) throw new ConfigurationError(`k must be a whole number above 0, but is ${String(k)}.`)
  await checkBeirFolder(folder)
  const judgments = await readJudgments(folder)
  const queries = (await readQueries(folder)).filter(({ id }) => judgments.has(id))
  if (queries.length === 0) {
    throw new CriaError(
      'invalid_request',
      `${folder} has no query with a judgment: queries.jsonl and qrels/test.tsv share no id.`,
    )
  }

  const missing = new Set(
    [...judgments.values()].flatMap((documents) => [...documents].flatMap(([id, grade]) => (grade > 0 ? id : []))),
  )
  const indexing = performance.now()
  await store.extend(documentsOf(folder, missing, options))
  const indexMs = performance.now() - indexing

  const run = new Map<string, RankedDocument[]>()
  const times: number[] = []
  for (const { id, text } of queries) {
    // An in-process store never yields to the event loop, so Ctrl-C is handled between two searches.
    await setImmediate()
    throwIfAborted(signal)
    const started = performance.now()
    const found = await searchDocuments(store, text, k, signal)
    times.push(performance.now() - started)
    run.set(id, found)
    onProgress?.('search', run.size, queries.length)
  }
  if (options.run !== undefined) await writeRun(options.run, run)
  return {
    collection: basename(resolve(folder)),
    run,
    ...measureRun(run, judgments),
    msPerQuery: { p50: percentile(times, 0.5), p99: percentile(times, 0.99) },
    indexMs,
    unmatched: { queries: judgments.size - queries.length, documents: missing.size },
  }
}

/** @param missing ids of relevant documents; each document that is found is removed from it. */
async function* documentsOf(
  folder: string,
  missing: Set<string>,
  { onProgress, signal }: EvaluateRetrievalOptions,
): AsyncGenerator<SourceDocument> {
  let done = 0
  for await (const { id, title, text } of readCorpus(folder)) {
    throwIfAborted(signal)
    missing.delete(id)
    yield { source: id, text, ...(title === '' ? {} : { title }) }
    onProgress?.('index', ++done, undefined)
  }
}

/** Requests more chunks until there are enough documents, or no further chunks. */
async function searchDocuments(store: DocumentStore, query: string, k: number, signal?: AbortSignal): Promise<RankedDocument[]> {
  for (let limit = k; ; limit *= CHUNKS_PER_DOCUMENT) {
    const chunks = await store.search(query, { limit, ...(signal === undefined ? {} : { signal }) })
    const documents = bestChunks(chunks)
    if (documents.length >= k || chunks.length < limit) return documents.slice(0, k)
  }
}

function bestChunks(chunks: readonly ScoredChunk[]): RankedDocument[] {
  const highest = new Map<string, number>()
  for (const { source, score } of chunks) if (!highest.has(source)) highest.set(source, score)
  return Array.from(highest, ([id, score]) => ({ id, score }))
}

async function writeRun(path: string, run: ReadonlyMap<string, readonly RankedDocument[]>): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (const [query, documents] of run) {
      const scores = new Map(documents.map(({ id, score }) => [id, score]))
      const lines = rankingOf(documents).map((id, at) => `${query} Q0 ${id} ${at + 1} ${scores.get(id) ?? 0} ${TAG}\n`)
      await file.write(lines.join(''))
    }
  } finally {
    await file.close()
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw toCriaError(signal.reason, 'aborted')
}
