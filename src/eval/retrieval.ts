/**
 * Measures retrieval on a collection, as `trec_eval` does: linear gain, a discount of 1 / log2(rank + 1), unjudged documents worth nothing, equal
 * scores ordered by document id, descending.
 */

import { open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import type { DocumentStore, ScoredChunk, SourceDocument } from '../core/store.ts'
import { checkBeirFolder, readCorpus, readJudgments, readQueries } from './collection.ts'
import type { Judgments, RankedDocument, Run } from './collection.ts'
import { mean } from './statistics.ts'

export interface RankingMeasures {
  readonly ndcg10: number
  readonly recall10: number
  readonly recall100: number
  readonly mrr10: number
  /** Average precision; its mean over queries is MAP. */
  readonly map: number
}

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
  for await (const document of readCorpus(folder)) {
    throwIfAborted(signal)
    missing.delete(document.source)
    yield document
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

const DEPTH = 1000
const NOTHING: RankingMeasures = { ndcg10: 0, recall10: 0, recall100: 0, mrr10: 0, map: 0 }

/** Returns ids from best to worst; a duplicate document counts once, with its highest score. */
export function rankingOf(documents: Iterable<RankedDocument>): string[] {
  const highest = new Map<string, number>()
  for (const { id, score } of documents) highest.set(id, Math.max(score, highest.get(id) ?? -Infinity))
  return [...highest]
    .sort(([a, x], [b, y]) => y - x || (a < b ? 1 : a > b ? -1 : 0))
    .slice(0, DEPTH)
    .map(([id]) => id)
}

/** Returns the queries that have a relevant document. */
export function withRelevant(judgments: ReadonlyMap<string, Judgments>): (readonly [query: string, Judgments])[] {
  return [...judgments].filter(([, grades]) => grades.values().some((grade) => grade > 0))
}

/** Returns the measures of one query; all 0 when no document is relevant to it. */
export function measureRanking(ranking: readonly string[], judgments: Judgments): RankingMeasures {
  const grades = [...judgments.values()].filter((grade) => grade > 0)
  if (grades.length === 0) return NOTHING
  const gains = ranking.map((id) => Math.max(0, judgments.get(id) ?? 0))
  const relevantWithin = (depth: number): number => gains.slice(0, depth).filter((gain) => gain > 0).length
  const first = gains.findIndex((gain) => gain > 0)
  let precision = 0
  let found = 0
  gains.forEach((gain, at) => {
    if (gain > 0) precision += ++found / (at + 1)
  })
  return {
    ndcg10: discountedGain(gains) / discountedGain(grades.sort((a, b) => b - a)),
    recall10: relevantWithin(10) / grades.length,
    recall100: relevantWithin(100) / grades.length,
    mrr10: first >= 0 && first < 10 ? 1 / (first + 1) : 0,
    map: precision / grades.length,
  }
}

/** Returns means over all queries that have a relevant document; a query without an answer scores 0. */
export function measureRun(
  run: ReadonlyMap<string, Iterable<RankedDocument>>,
  judgments: ReadonlyMap<string, Judgments>,
): RankingMeasures & { readonly queries: number } {
  const judged = withRelevant(judgments)
  const each = judged.map(([query, grades]) => measureRanking(rankingOf(run.get(query) ?? []), grades))
  const names = Object.keys(NOTHING) as (keyof RankingMeasures)[]
  const means = Object.fromEntries(names.map((name) => [name, mean(each.map((measures) => measures[name]))]))
  return { queries: each.length, ...NOTHING, ...means }
}

/** Returns the percentile by nearest rank, so that the result is always an element of `values`. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? 0
}

function discountedGain(gains: readonly number[]): number {
  return gains.slice(0, 10).reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0)
}
