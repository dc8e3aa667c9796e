/** Compares two systems question by question: the gain in each measure, its significance, and the failed questions. */

import { scoreEach } from './answers.ts'
import { checkBeirFolder, readDocuments, readJudgments, readQueries, readQuestions } from './collection.ts'
import type { GoldQuestion, Judgments, Prediction, Run } from './collection.ts'
import { measureRanking, rankingOf, withRelevant } from './retrieval.ts'
import { holm, mean, pairedTest } from './statistics.ts'
import type { PairedTest } from './statistics.ts'

/** The two systems in one measure. */
export interface MeasureComparison extends PairedTest {
  readonly measure: string
  /** Mean over the questions. */
  readonly baseline: number
  readonly system: number
  /** `pRandomization` after Holm's correction over all measures of the comparison. */
  readonly pAdjusted: number
}

/** One question that the system answers badly. */
export interface Failure {
  readonly id: string
  readonly question: string
  /** The relevant documents, or the gold answers. */
  readonly expected: readonly string[]
  /** The documents found, or the answer given, best first. */
  readonly found: readonly string[]
  readonly baseline: number
  readonly system: number
}

/** The result of comparing two systems. */
export interface Comparison {
  readonly collection: string
  /** Names of the two systems, such as file names; differences are system − baseline. */
  readonly names: readonly [baseline: string, system: string]
  readonly questions: number
  readonly measures: readonly MeasureComparison[]
  /** Differences of the first measure, in descending order. */
  readonly differences: readonly { readonly id: string; readonly difference: number }[]
  /** Worst first. */
  readonly failures: readonly Failure[]
}

/** The scores of one system for each question, by measure. */
type Scores = ReadonlyMap<string, Readonly<Record<string, number>>>

/** The two systems to compare: their runs, answers or scores. */
export interface Sides<Side> {
  readonly collection: string
  readonly names: readonly [baseline: string, system: string]
  readonly baseline: Side
  readonly system: Side
}

const FOUND = 5
const MEASURES = ['ndcg10', 'recall10', 'recall100', 'mrr10', 'map'] as const

/** Compares two runs over the queries of a BEIR folder. @throws CriaError as the readers of its files */
export async function compareRuns(folder: string, runs: Sides<Run>): Promise<Comparison> {
  await checkBeirFolder(folder)
  const queries = new Map((await readQueries(folder)).map(({ id, text }) => [id, text]))
  return compareRankings(runs, await readJudgments(folder), queries)
}

/**
 * Compares two rankings by every measure, over all queries that have a relevant document; a query that a run lacks scores 0.
 *
 * @param queries texts by id.
 */
export function compareRankings(
  { collection, names, baseline, system }: Sides<Run>,
  judgments: ReadonlyMap<string, Judgments>,
  queries: ReadonlyMap<string, string>,
): Comparison {
  const judged = withRelevant(judgments)
  const scores = (run: Run): Scores =>
    new Map(judged.map(([id, grades]) => [id, { ...measureRanking(rankingOf(run.get(id) ?? []), grades) }]))
  return comparison({ collection, names, baseline: scores(baseline), system: scores(system) }, MEASURES, (id) => ({
    question: queries.get(id) ?? '',
    expected: [...(judgments.get(id) ?? [])].filter(([, grade]) => grade > 0).map(([document]) => document),
    found: rankingOf(system.get(id) ?? []).slice(0, FOUND),
  }))
}

const ANSWER_MEASURES = ['inQuote', 'exactMatch', 'f1', 'right'] as const

/** Compares two sets of answers over the questions of a collection. @throws CriaError as the readers of its files */
export async function compareAnswers(folder: string, sides: Sides<readonly Prediction[]>): Promise<Comparison> {
  const cited = new Set([...sides.baseline, ...sides.system].map(({ docId }) => docId))
  return comparePredictions(sides, await readQuestions(folder), await readDocuments(folder, cited))
}

/**
 * Compares two sets of answers by every measure. Adds the measure `right`: the quote contains an answer, or the system abstains from an
 * unanswerable question.
 */
export function comparePredictions(
  { collection, names, baseline, system }: Sides<readonly Prediction[]>,
  questions: readonly GoldQuestion[],
  documents: ReadonlyMap<string, string>,
): Comparison {
  const scores = (predictions: readonly Prediction[]): Scores =>
    new Map(
      scoreEach(questions, predictions, documents).map(({ id, ...one }) => [
        id,
        {
          inQuote: one.inQuote ? 1 : 0,
          exactMatch: one.exact ? 1 : 0,
          f1: one.f1,
          right: one.inQuote || (one.isUnanswerable && one.abstained) ? 1 : 0,
        },
      ]),
    )
  const byId = new Map(questions.map((question) => [question.id, question]))
  const said = new Map(system.map((prediction) => [prediction.id, prediction]))
  const answerable = new Set(questions.filter(({ answers }) => answers.length > 0).map(({ id }) => id))
  return comparison(
    { collection, names, baseline: scores(baseline), system: scores(system) },
    ANSWER_MEASURES,
    (id) => {
      const { answer = '', quote = '', docId = '' } = said.get(id) ?? {}
      const found = answer.trim() === '' ? ['(no answer)'] : [answer, `“${quote}” (${docId})`]
      const expected = byId.get(id)?.answers ?? []
      return { question: byId.get(id)?.question ?? '', expected: expected.length > 0 ? expected : ['(no answer)'], found }
    },
    (measure, id) => measure === 'right' || answerable.has(id),
    'right',
  )
}

/**
 * Tests each measure and collects the failed questions.
 *
 * @param counts returns whether a question counts for a measure. @param main the measure of `differences` and `failures`.
 */
function comparison(
  { collection, names, baseline, system }: Sides<Scores>,
  measures: readonly string[],
  describe: (id: string) => Pick<Failure, 'question' | 'expected' | 'found'>,
  counts: (measure: string, id: string) => boolean = () => true,
  main: string = measures[0] ?? '',
): Comparison {
  const ids = [...baseline.keys()]
  const value = (scores: Scores, id: string, measure: string): number => scores.get(id)?.[measure] ?? 0
  const tests = measures.map((measure) => {
    const own = ids.filter((id) => counts(measure, id))
    const valuesOf = (scores: Scores): number[] => own.map((id) => value(scores, id, measure))
    const [before, after] = [valuesOf(baseline), valuesOf(system)]
    const test = pairedTest(after.map((score, index) => score - (before[index] ?? 0)))
    return { measure, baseline: mean(before), system: mean(after), ...test }
  })
  const adjusted = holm(tests.map(({ pRandomization }) => pRandomization))
  const each = ids.map((id) => ({ id, before: value(baseline, id, main), after: value(system, id, main) }))
  return {
    collection,
    names,
    questions: ids.length,
    measures: tests.map((test, index) => ({ ...test, pAdjusted: adjusted[index] ?? 1 })),
    differences: each
      .map(({ id, before, after }) => ({ id, difference: after - before }))
      .sort((a, b) => b.difference - a.difference),
    failures: each
      .filter(({ before, after }) => after < FAILING || after < before)
      .sort((a, b) => a.after - b.after || a.after - a.before - (b.after - b.before))
      .map(({ id, before, after }) => ({ id, ...describe(id), baseline: before, system: after })),
  }
}

/** A question with a lower score counts as failed. */
const FAILING = 0.1
