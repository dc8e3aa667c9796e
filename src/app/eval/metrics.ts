/**
 * Computes the measures of a ranking as `trec_eval` does: linear gain, a discount of 1 / log2(rank + 1), unjudged documents worth nothing, equal
 * scores ordered by document id, descending.
 */

import { mean } from './statistics.ts'

/** Grades by document; a grade above 0 means relevant. */
export type Judgments = ReadonlyMap<string, number>

export interface RankedDocument {
  readonly id: string
  readonly score: number
}

export interface RankingMeasures {
  readonly ndcg10: number
  readonly recall10: number
  readonly recall100: number
  readonly mrr10: number
  /** Average precision; its mean over queries is MAP. */
  readonly map: number
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
