/**
 * Fits the weights of the extractive model, cross-validates them, and prints what belongs into `weights.ts`.
 *
 *   node scripts/fit-extractive.ts FOLDER [FOLDER…]
 *
 * Each folder is a collection as `cria eval answers` reads it. From every answerable question an unanswerable one is made by leaving
 * out the documents that answer it and those of the same title. The threshold is set on the first folder.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { holds } from '../src/app/eval/answer-score.ts'
import { readQuestions } from '../src/app/eval/answers.ts'
import type { GoldQuestion } from '../src/app/eval/answer-score.ts'
import type { ScoredChunk } from '../src/core/store.ts'
import { readSigns, SIGNS } from '../src/providers/extractive/abstain.ts'
import type { Signs } from '../src/providers/extractive/abstain.ts'
import { LONGEST_QUOTE } from '../src/providers/extractive/answer.ts'
import { FEATURES, scoreWindows } from '../src/providers/extractive/features.ts'
import type { Scored } from '../src/providers/extractive/features.ts'
import { readQuestion } from '../src/providers/extractive/question.ts'
import type { Question } from '../src/providers/extractive/question.ts'
import { readPassages } from '../src/providers/extractive/reading.ts'
import type { Reading } from '../src/providers/extractive/reading.ts'
import { SqliteDocumentStore } from '../src/stores/sqlite.ts'
import { ascend } from './fit/ascend.ts'

const PASSAGES = 20
/** Spare results, to fill up with when documents are left out. */
const SPARE = 25
const FOLDS = 5
const REPEATS = 3
/** Strength of the pull towards 0 of every weight. */
const RANKING_PENALTY = 3
const CONFIDENCE_PENALTY = 1
/** Share of the answerable questions of the first folder that may be refused. */
const REFUSED = 0.075

interface Item {
  readonly folder: number
  readonly gold: GoldQuestion
  /** An answerable question without the documents that answer it. */
  readonly leftOut: boolean
  readonly question: Question
  readonly readings: readonly Reading[]
  readonly scored: readonly Scored[]
  readonly vectors: readonly Float64Array[]
  /** The window holds a gold answer, in a document that answers. */
  readonly right: readonly boolean[]
  readonly sources: readonly string[]
}

interface Document {
  readonly _id: string
  readonly title?: string
  readonly text: string
}

async function readItems(folder: string, number: number): Promise<Item[]> {
  const documents = (await readFile(join(folder, 'corpus.jsonl'), 'utf8'))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): Document => JSON.parse(line) as Document)
  const titles = new Map(documents.map(({ _id, title = '' }) => [_id, title]))
  const store = await SqliteDocumentStore.open({ path: ':memory:' })
  await store.extend(documents.map(({ _id, title = '', text }) => ({ source: _id, title, text })))
  const items: Item[] = []
  for (const gold of await readQuestions(folder)) {
    const found = await store.search(gold.question, { limit: PASSAGES + SPARE })
    items.push(toItem(number, gold, found.slice(0, PASSAGES), false))
    if (gold.answers.length === 0) continue
    const answering = new Set(gold.docIds.map((id) => titles.get(id)))
    const rest = found.filter(({ source }) => !answering.has(titles.get(source)))
    if (!rest.some(({ text }) => gold.answers.some((answer) => holds(text, answer))))
      items.push(toItem(number, { ...gold, answers: [], docIds: [] }, rest.slice(0, PASSAGES), true))
  }
  await store.close()
  return items
}

function toItem(folder: number, gold: GoldQuestion, chunks: readonly ScoredChunk[], leftOut: boolean): Item {
  const question = readQuestion(gold.question, chunks[0]?.evidence?.weights)
  const passages = chunks.map(({ text, title, headings, score }, index) => ({
    marker: String(index),
    text,
    title,
    headings,
    score,
  }))
  const readings = readPassages(question, passages, LONGEST_QUOTE)
  const scored = scoreWindows(question, readings, LONGEST_QUOTE)
  const sources = scored.map(({ reading }) => chunks[Number(reading.passage.marker)]?.source ?? '')
  return {
    folder,
    gold,
    leftOut,
    question,
    readings,
    scored,
    vectors: scored.map(({ features }) => Float64Array.from(FEATURES, (feature) => features[feature])),
    right: scored.map(
      ({ reading, window }, index) =>
        gold.docIds.includes(sources[index] ?? '') &&
        gold.answers.some((answer) => holds(reading.passage.text.slice(window.start, window.end), answer)),
    ),
    sources,
  }
}

/** Weights under which the probability (softmax over the windows of a question) of the right windows is highest. */
function fitRanking(items: readonly Item[]): Float64Array {
  const usable = items.filter((item) => item.right.includes(true))
  return ascend(FEATURES.length, RANKING_PENALTY, (weights, gradient) => {
    for (const { vectors, right } of usable) {
      const worths = vectors.map((vector) => dot(weights, vector))
      const most = Math.max(...worths)
      const masses = worths.map((worth) => Math.exp(worth - most))
      const all = masses.reduce((sum, mass) => sum + mass, 0)
      const good = masses.reduce((sum, mass, index) => sum + (right[index] === true ? mass : 0), 0)
      vectors.forEach((vector, index) => {
        const mass = masses[index] ?? 0
        const pull = (right[index] === true ? mass / good : 0) - mass / all
        for (let k = 0; k < vector.length; k++) gradient[k] = (gradient[k] ?? 0) + pull * (vector[k] ?? 0)
      })
    }
  })
}

interface Outcome {
  readonly item: Item
  readonly answerable: boolean
  readonly right: boolean
  readonly rightDocument: boolean
  readonly signs: Signs
}

function outcome(item: Item, weights: Float64Array): Outcome | undefined {
  const ranked = item.scored
    .map((one, index) => ({ ...one, worth: dot(weights, item.vectors[index] ?? new Float64Array()), index }))
    .toSorted((a, b) => b.worth - a.worth)
  const [best] = ranked
  if (best === undefined) return undefined
  return {
    item,
    answerable: item.gold.answers.length > 0,
    right: item.right[best.index] === true,
    rightDocument: item.gold.docIds.includes(item.sources[best.index] ?? ''),
    signs: readSigns(item.question, item.readings, ranked),
  }
}

/** Logistic regression, answerable and unanswerable questions weighing the same together. The last weight is the bias. */
function fitConfidence(outcomes: readonly Outcome[]): Float64Array {
  const answerable = outcomes.filter((one) => one.answerable).length
  const balance = (outcomes.length - answerable) / Math.max(1, answerable)
  return ascend(SIGNS.length + 1, CONFIDENCE_PENALTY, (weights, gradient) => {
    for (const { signs, answerable: yes } of outcomes) {
      const vector = signVector(signs)
      const error = (yes ? 1 : 0) - 1 / (1 + Math.exp(-dot(weights, vector)))
      for (let k = 0; k < vector.length; k++) gradient[k] = (gradient[k] ?? 0) + error * (yes ? balance : 1) * (vector[k] ?? 0)
    }
  })
}

function signVector(signs: Signs): Float64Array {
  return Float64Array.from([...SIGNS.map((sign) => signs[sign]), 1])
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let k = 0; k < a.length; k++) sum += (a[k] ?? 0) * (b[k] ?? 0)
  return sum
}

/** Folds by question, so that a question and its left-out twin are never on both sides. */
function foldsOf(items: readonly Item[], seed: number): Map<string, number> {
  let state = seed
  const folds = new Map<string, number>()
  for (const { gold } of items) {
    state = (state * 1103515245 + 12345) % 2147483648
    if (!folds.has(gold.id)) folds.set(gold.id, Math.floor((state / 2147483648) * FOLDS))
  }
  return folds
}

interface Judged extends Outcome {
  readonly sure: number
}

/** Every question judged by weights that were fitted without it. */
function crossValidate(items: readonly Item[], seed: number): Judged[] {
  const folds = foldsOf(items, seed)
  const inFold = (item: Item, fold: number): boolean => folds.get(item.gold.id) === fold
  const outcomes = Array.from({ length: FOLDS }, (_, fold) => {
    const weights = fitRanking(items.filter((item) => !inFold(item, fold)))
    return items.filter((item) => inFold(item, fold)).flatMap((item) => outcome(item, weights) ?? [])
  }).flat()
  return Array.from({ length: FOLDS }, (_, fold) => {
    const weights = fitConfidence(outcomes.filter(({ item }) => !inFold(item, fold)))
    return outcomes.filter(({ item }) => inFold(item, fold)).map((one) => ({ ...one, sure: dot(weights, signVector(one.signs)) }))
  }).flat()
}

function thresholdOf(judged: readonly { readonly item: Item; readonly answerable: boolean; readonly sure: number }[]): number {
  const sure = judged
    .filter(({ item, answerable }) => answerable && item.folder === 0)
    .map((one) => one.sure)
    .toSorted((a, b) => a - b)
  return sure[Math.round(REFUSED * sure.length)] ?? 0
}

function share<T>(rows: readonly T[], test: (row: T) => boolean): string {
  return rows.length === 0 ? '-' : (rows.filter(test).length / rows.length).toFixed(3)
}

function report(judged: readonly Judged[], folders: readonly string[]): string {
  const threshold = thresholdOf(judged)
  return folders
    .map((name, folder) => {
      const own = judged.filter(({ item }) => item.folder === folder)
      const answerable = own.filter((one) => one.answerable)
      const answered = answerable.filter((one) => one.sure >= threshold)
      const refused = (one: Judged): boolean => one.sure < threshold
      return [
        name,
        `in quote ${share(answerable, (one) => one.right && !refused(one))} (${share(answerable, (one) => one.right)} when nothing is refused)`,
        `right document ${share(answered, (one) => one.rightDocument)}`,
        `refused: answerable ${share(answerable, refused)}, unanswerable ${share(
          own.filter((one) => !one.answerable && !one.item.leftOut),
          refused,
        )}, left out ${share(
          own.filter((one) => one.item.leftOut),
          refused,
        )}`,
      ].join('\n    ')
    })
    .join('\n  ')
}

/** What each threshold would cost and bring, on the first folder. */
function curve(judged: readonly Judged[]): string {
  const own = judged.filter(({ item }) => item.folder === 0)
  const answerable = own.filter((one) => one.answerable)
  const sure = answerable.map((one) => one.sure).toSorted((a, b) => a - b)
  return CURVE.map((refused) => {
    const threshold = sure[Math.round(refused * sure.length)] ?? 0
    const below = (one: Judged): boolean => one.sure < threshold
    const answered = own.filter((one) => !below(one) && !one.item.leftOut)
    return [
      `refused: answerable ${share(answerable, below)}`,
      `unanswerable ${share(
        own.filter((one) => !one.answerable && !one.item.leftOut),
        below,
      )}`,
      `left out ${share(
        own.filter((one) => one.item.leftOut),
        below,
      )}`,
      `in quote ${share(answerable, (one) => one.right && !below(one))}`,
      `of the answers given, right ${share(answered, (one) => one.right)}`,
    ].join(', ')
  }).join('\n  ')
}

const CURVE = [0, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2]

function table(names: readonly string[], weights: Float64Array): string {
  return names.map((name, k) => `  ${name}: ${Number((weights[k] ?? 0).toFixed(2))},`).join('\n')
}

const folders = process.argv.slice(2)
if (folders.length === 0) {
  process.stderr.write('usage: node scripts/fit-extractive.ts FOLDER [FOLDER…]\n')
  process.exitCode = 2
} else {
  const items = (await Promise.all(folders.map(readItems))).flat()
  for (let seed = 1; seed <= REPEATS; seed++)
    process.stdout.write(`cross-validation ${seed}:\n  ${report(crossValidate(items, seed * 7919), folders)}\n`)
  const ranking = fitRanking(items)
  const judged = crossValidate(items, 7919)
  process.stdout.write(`\nthresholds:\n  ${curve(judged)}\n`)
  const confidence = fitConfidence(judged)
  const threshold = thresholdOf(judged.map((one) => ({ ...one, sure: dot(confidence, signVector(one.signs)) })))
  confidence[SIGNS.length] = (confidence[SIGNS.length] ?? 0) - threshold
  process.stdout.write(`\nRANKING\n${table(FEATURES, ranking)}\nCONFIDENCE\n${table([...SIGNS, 'bias'], confidence)}\n`)
}
