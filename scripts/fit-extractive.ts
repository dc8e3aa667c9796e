/**
 * Fits the weights of the extractive model; prints the content of `weights.ts` and cross-validated scores.
 *
 *     npm run fit -- FOLDER…
 *
 * A folder holds either a collection as `cria eval answers` reads it (`corpus.jsonl`, `answers.jsonl`, `unanswerable.jsonl`), or documents with
 * `questions.jsonl`: `{ question, collection, answerable, evidence: [[…]], files }` a line, where each group of `evidence` is met by one of its
 * strings and `collection` names the folder of the documents beside it.
 *
 * Every answerable question is also used as an unanswerable question, without the documents that answer it. All scores are for questions that
 * the weights were not fitted on (five folds). Takes about a minute for 300 questions.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { holds } from '../src/eval/port.ts'
import { loadDocuments } from '../src/index.ts'
import { withCorrections } from '../src/prepare/compose.ts'
import type { ScoredChunk, SourceDocument } from '../src/core/store.ts'
import { signsOf } from '../src/providers/extractive/confidence.ts'
import { scoreRun } from '../src/providers/extractive/features.ts'
import type { ScoredRun } from '../src/providers/extractive/features.ts'
import { Matcher } from '../src/providers/extractive/match.ts'
import type { Reading } from '../src/providers/extractive/match.ts'
import { PASSAGES_READ } from '../src/providers/extractive/model.ts'
import type { Passage } from '../src/providers/extractive/passage.ts'
import { readQuestion, readQuestions } from '../src/providers/extractive/question.ts'
import type { Question } from '../src/providers/extractive/question.ts'
import { runsOf, wordsOf } from '../src/providers/extractive/runs.ts'
import { FEATURES, SIGNS } from '../src/providers/extractive/weights.ts'
import { SqliteDocumentStore } from '../src/stores/sqlite.ts'
import { ascend } from './fit/ascend.ts'

const FOLDS = 5
const SPARE = 8
/** L2 penalty of each weight. */
const PENALTY = 1
/** Runs with the answer count as right if they are at most this many words longer than the shortest. */
const SLACK = 20
/** Weight of questions made unanswerable, which are easier than real unanswerable questions. */
const MADE = 0.5

interface Gold {
  readonly set: string
  readonly question: string
  readonly answerable: boolean
  /** Whether a text from a document answers the question. */
  readonly isMet: (text: string, source: string) => boolean
  /** Whether a passage comes from a document that answers the question. */
  readonly isSource: (chunk: ScoredChunk) => boolean
}

interface Item {
  readonly gold: Gold
  readonly answerable: boolean
  readonly made: boolean
  readonly small?: boolean
  readonly found: readonly ScoredChunk[]
}

interface Line {
  readonly [field: string]: unknown
}

const lines = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Line)
const plain = (text: string): string => text.replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ').trim().toLowerCase()

async function storeOf(documents: readonly SourceDocument[] | AsyncIterable<SourceDocument>): Promise<SqliteDocumentStore> {
  const store = await SqliteDocumentStore.open({ path: ':memory:' })
  await store.extend(documents)
  return store
}

/** Stores with their questions. */
async function* collections(folder: string): AsyncGenerator<readonly [SqliteDocumentStore, readonly Gold[]]> {
  if (existsSync(join(folder, 'corpus.jsonl'))) {
    const documents = lines(join(folder, 'corpus.jsonl')) as unknown as { _id: string; title?: string; text: string }[]
    const titles = new Map(documents.map(({ _id, title = '' }) => [_id, title]))
    const store = await storeOf(documents.map(({ _id, title = '', text }) => ({ source: _id, title, text })))
    const questions = ['answers', 'unanswerable'].flatMap((name) => lines(join(folder, `${name}.jsonl`))) as unknown as {
      question: string
      answers: string[]
      doc_ids: string[]
    }[]
    yield [
      store,
      questions.map(({ question, answers, doc_ids: ids }) => ({
        set: folder,
        question,
        answerable: answers.length > 0,
        isMet: (text, source) => ids.includes(source) && answers.some((answer) => holds(text, answer)),
        isSource: ({ source, text }) =>
          ids.some((id) => titles.get(id) === titles.get(source)) || answers.some((answer) => holds(text, answer)),
      })),
    ]
    return
  }
  const questions = lines(join(folder, 'questions.jsonl')) as unknown as {
    question: string
    collection: string
    answerable: boolean
    evidence: string[][]
    files: string[]
  }[]
  for (const collection of new Set(questions.map((one) => one.collection))) {
    const store = await storeOf(await loadDocuments([join(folder, collection)]))
    yield [
      store,
      questions
        .filter((one) => one.collection === collection)
        .map(({ question, answerable, evidence, files }) => {
          const isMet = (text: string): boolean =>
            evidence.every((group) => group.some((one) => plain(text).includes(plain(one))))
          return {
            set: folder,
            question,
            answerable,
            isMet,
            isSource: ({ source, text }) => isMet(text) || files.some((file) => source.endsWith(`/${file}`)),
          }
        }),
    ]
  }
}

/** Sizes of the small stores built for questions about paragraphs. */
const SIZES = [1, 2, 4, 8]

/** Builds cases for each question: over its document among a few others, and over the others alone. */
async function smallItems(gold: Gold, found: readonly ScoredChunk[], number: number): Promise<Item[]> {
  const right = found.find((chunk) => gold.isMet(chunk.text, chunk.source))
  const others = found.filter((chunk) => !gold.isSource(chunk))
  const size = SIZES[number % SIZES.length] ?? 1
  if (right === undefined || others.length < size) return []
  const items: Item[] = []
  // Takes every third document, because very similar documents are rare in a small folder.
  const few = others.filter((_, at) => at % 3 === 2 || others.length < 3 * size).slice(0, size)
  for (const [chunks, answerable] of [
    [[right, ...few.slice(1)], true],
    [few, false],
  ] as const) {
    const store = await storeOf(
      chunks.map(({ source, title, text }) => ({ source, text, ...(title === undefined ? {} : { title }) })),
    )
    items.push({ gold, answerable, made: true, small: true, found: await store.search(gold.question, { limit: PASSAGES_READ }) })
    await store.close()
  }
  return items
}

async function readItems(folders: readonly string[]): Promise<Item[]> {
  const items: Item[] = []
  for (const folder of folders) {
    for await (const [store, golds] of collections(folder)) {
      for (const [number, gold] of golds.entries()) {
        const found = await store.search(gold.question, { limit: PASSAGES_READ + SPARE })
        items.push({ gold, answerable: gold.answerable, made: false, found: found.slice(0, PASSAGES_READ) })
        if (gold.answerable && existsSync(join(gold.set, 'corpus.jsonl'))) items.push(...(await smallItems(gold, found, number)))
        const others = gold.answerable ? found.filter((chunk) => !gold.isSource(chunk)) : []
        if (others.length > SPARE / 2) items.push({ gold, answerable: false, made: true, found: others.slice(0, PASSAGES_READ) })
      }
      await store.close()
    }
  }
  return items
}

interface Ranked {
  readonly question: Question
  readonly readings: readonly Reading[]
  readonly runs: readonly ScoredRun[]
  /** For each run: `true` if it should rank first, `false` if it should not, `undefined` if it does not count. */
  readonly labels: readonly (boolean | undefined)[]
}

function toRanked({ gold, found, answerable }: Item, question: Question): Ranked {
  const matcher = new Matcher(question)
  const best = found[0]?.score ?? 1
  const readings = found.map((chunk, at) =>
    matcher.read({ marker: String(at + 1), ...(chunk as Omit<Passage, 'marker'>), score: chunk.score / best }),
  )
  const runs = readings.flatMap(runsOf).map((run) => scoreRun(question, run))
  const texts = runs.map(({ run: { pieces, section, reading } }) => {
    const { text, source } = reading.passage
    const signature = section.signature === undefined ? '' : text.slice(section.signature.start, section.signature.end)
    return answerable && gold.isMet(`${signature}\n${text.slice(pieces[0]?.piece.start, pieces.at(-1)?.piece.end)}`, source)
  })
  const shortest = Math.min(...runs.flatMap(({ run }, at) => (texts[at] === true ? [wordsOf(run.pieces)] : [])))
  const labels = runs.map(({ run }, at) => (texts[at] === true ? wordsOf(run.pieces) <= shortest + SLACK || undefined : false))
  return { question, readings, runs, labels }
}

/** Adds the gradient of the log-likelihood that a run with the answer comes first. */
function addRankingGradient(all: readonly Ranked[], weights: Float64Array, gradient: Float64Array): void {
  for (const { runs, labels } of all) {
    if (!labels.includes(true)) continue
    const scores = runs.map(({ features }) => dot(weights, features))
    const most = scores.reduce((a, b) => Math.max(a, b))
    const odds = scores.map((score, at) => (labels[at] === undefined ? 0 : Math.exp(score - most)))
    const whole = odds.reduce((sum, one) => sum + one, 0)
    const right = odds.reduce((sum, one, at) => sum + (labels[at] === true ? one : 0), 0)
    for (const [at, { features }] of runs.entries()) {
      const share = (labels[at] === true ? (odds[at] ?? 0) / right : 0) - (odds[at] ?? 0) / whole
      features.forEach((value, feature) => (gradient[feature] = (gradient[feature] ?? 0) + share * value))
    }
  }
}

function dot(weights: Float64Array, values: Float64Array): number {
  return values.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0)
}

function fitRanking(all: readonly Ranked[]): Float64Array {
  return ascend(FEATURES.length, PENALTY, (weights, gradient) => addRankingGradient(all, weights, gradient))
}

interface Signed {
  readonly signs: Float64Array
  readonly answerable: boolean
  readonly share: number
}

/** Fits a logistic regression; the last weight is the intercept. */
function fitConfidence(all: readonly Signed[]): Float64Array {
  return ascend(SIGNS.length + 1, PENALTY, (weights, gradient) => {
    for (const { signs, answerable, share } of all) {
      const error = share * ((answerable ? 1 : 0) - 1 / (1 + Math.exp(-oddsOf(weights, signs))))
      signs.forEach((sign, at) => (gradient[at] = (gradient[at] ?? 0) + error * sign))
      gradient[SIGNS.length] = (gradient[SIGNS.length] ?? 0) + error
    }
  })
}

function oddsOf(weights: Float64Array, signs: Float64Array): number {
  return dot(weights, signs) + (weights[SIGNS.length] ?? 0)
}

const byScore = (runs: readonly ScoredRun[], weights: Float64Array): ScoredRun[] => {
  const scores = new Map(runs.map((run) => [run, dot(weights, run.features)]))
  return runs.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0))
}

function signsWith({ question, readings, runs }: Ranked, weights: Float64Array): Float64Array {
  return signsOf(question, readings, byScore(runs, weights), (features) => dot(weights, features))
}

const folders = process.argv.slice(2)
if (folders.length === 0) {
  process.stderr.write(
    'npm run fit -- FOLDER…: give one or more folders with questions (see the head of scripts/fit-extractive.ts).\n',
  )
  process.exit(2)
}
const items = await readItems(folders)
const prepared = items.map((item) => {
  const { corrections, weights } = item.found[0]?.evidence ?? { weights: {} }
  const text = withCorrections(item.gold.question, corrections)
  return {
    item,
    whole: toRanked(item, readQuestion(text, weights)),
    parts: readQuestions(text, weights).map((part) => toRanked(item, part)),
  }
})
const keys = [...new Set(items.map(({ gold }) => gold))]
const foldOf = new Map(keys.map((gold, at) => [gold, at % FOLDS]))
const firsts = new Map<string, { right: number; of: number }>()
const odds = new Map<string, { answerable: number[]; not: number[] }>()
const train = (some: typeof prepared): { ranking: Float64Array; confidence: Float64Array } => {
  const ranking = fitRanking(some.filter(({ item }) => item.answerable && !item.made).map(({ whole }) => whole))
  const signed = some.map(({ item, whole }) => ({
    signs: signsWith(whole, ranking),
    answerable: item.answerable,
    share: item.made ? MADE : 1,
  }))
  return { ranking, confidence: fitConfidence(signed) }
}
for (let fold = 0; fold < FOLDS; fold++) {
  const { ranking, confidence } = train(prepared.filter(({ item }) => foldOf.get(item.gold) !== fold))
  for (const { item, whole, parts } of prepared) {
    if (foldOf.get(item.gold) !== fold || (item.made && item.small !== true)) continue
    const set = item.small === true ? 'small stores' : item.gold.set
    const own = odds.get(set) ?? { answerable: [], not: [] }
    odds.set(set, own)
    own[item.answerable ? 'answerable' : 'not'].push(
      Math.max(...[whole, ...parts].map((one) => oddsOf(confidence, signsWith(one, ranking)))),
    )
    if (!item.answerable || item.made) continue
    const [best] = byScore(whole.runs, ranking)
    const count = firsts.get(set) ?? { right: 0, of: 0 }
    firsts.set(set, count)
    count.of++
    if (best !== undefined && whole.labels[whole.runs.indexOf(best)] !== false) count.right++
  }
}
const { ranking, confidence } = train(prepared)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
print('Weights for src/providers/extractive/weights.ts:')
FEATURES.forEach((feature, at) => print(`  ${feature}: ${(ranking[at] ?? 0).toFixed(2)},`))
SIGNS.forEach((sign, at) => print(`  ${sign}: ${(confidence[at] ?? 0).toFixed(2)},`))
print(`  BASE = ${(confidence[SIGNS.length] ?? 0).toFixed(2)}`)
print('\nCross-validated: the best run holds the answer (before it is grown, one run for all parts of a question).')
for (const [set, { right, of }] of firsts) print(`  ${set}: ${(right / of).toFixed(3)} of ${of}`)
print('\nCross-validated: share of the unanswerable that is refused, by the share of the answerable that is refused.')
for (const [set, { answerable, not }] of odds) {
  const sorted = answerable.toSorted((a, b) => a - b)
  const cells = [0.02, 0.04, 0.05, 0.06, 0.08, 0.1].map((share) => {
    const threshold = sorted[Math.floor(share * sorted.length)] ?? 0
    return `${share}: ${(not.filter((one) => one < threshold).length / not.length).toFixed(2)} (at ${threshold.toFixed(2)})`
  })
  print(`  ${set}: ${cells.join(', ')}`)
}
