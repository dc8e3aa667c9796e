/**
 * The trade-off between answering and being wrong: what the built-in model would do if it needed more confidence, or less.
 *
 *   node scripts/abstention.ts FOLDER [--svg FILE]
 *
 * FOLDER is a collection as `cria eval answers` reads it. Prints two tables in Markdown (the curve, and how often an answer of some
 * confidence is right) and writes the curve as a picture.
 */

import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { scoreEach } from '../src/app/eval/answer-score.ts'
import type { Prediction } from '../src/app/eval/answer-score.ts'
import { readDocuments, readQuestions } from '../src/app/eval/answers.ts'
import { readCorpus } from '../src/app/eval/beir.ts'
import { answerFromPassages } from '../src/providers/extractive/answer.ts'
import { SqliteDocumentStore } from '../src/stores/sqlite.ts'

/** What QueryBot asks for. */
const PASSAGES = 20
const CAUTIONS = [-0.5, -0.4, -0.3, -0.2, -0.15, -0.1, -0.05, 0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
const BINS = [0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.001]

/** A question, answered in any case. */
export interface Tried {
  readonly confidence: number
  /** How far the confidence is above the one that is needed. */
  readonly margin: number
  readonly isAnswerable: boolean
  /** The quote holds an answer. */
  readonly isRight: boolean
}

export interface Point {
  readonly caution: number
  /** Shares of all questions. */
  readonly answered: number
  /** Of those answered. */
  readonly wrong: number
  /** Of the answerable ones. */
  readonly refusedAnswerable: number
  readonly refusedUnanswerable: number
}

export function curveOf(tried: readonly Tried[], cautions: readonly number[] = CAUTIONS): Point[] {
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)
  return cautions.map((caution) => {
    const answered = tried.filter(({ margin }) => margin >= caution)
    const answerable = tried.filter(({ isAnswerable }) => isAnswerable)
    const others = tried.filter(({ isAnswerable }) => !isAnswerable)
    const refused = (list: readonly Tried[]): number => share(list.filter(({ margin }) => margin < caution).length, list.length)
    return {
      caution,
      answered: share(answered.length, tried.length),
      wrong: share(answered.filter(({ isRight }) => !isRight).length, answered.length),
      refusedAnswerable: refused(answerable),
      refusedUnanswerable: refused(others),
    }
  })
}

async function tryAll(folder: string): Promise<Tried[]> {
  const store = await SqliteDocumentStore.open({ path: ':memory:' })
  await store.extend(documentsOf(folder))
  const questions = await readQuestions(folder)
  const answers: { prediction: Prediction; confidence: number; margin: number }[] = []
  for (const { id, question } of questions) {
    const chunks = await store.search(question, { limit: PASSAGES })
    const best = Math.max(...chunks.map(({ score }) => score)) || 1
    const passages = chunks.map(({ text, title, headings, score }, index) => ({
      marker: String(index + 1),
      text,
      title,
      headings,
      score: score / best,
    }))
    // It must tell what it would have said.
    const { quotes, confidence, needed } = answerFromPassages(question, passages, {
      weights: chunks[0]?.evidence?.weights,
      caution: -2,
    })
    const [quote] = quotes
    const docId = chunks[Number(quote?.marker) - 1]?.source ?? ''
    const text = quote?.text ?? ''
    answers.push({ prediction: { id, answer: text, quote: text, docId }, confidence, margin: confidence - (needed + 2) })
  }
  await store.close()
  const predictions = answers.map(({ prediction }) => prediction)
  const documents = await readDocuments(folder, new Set(predictions.map(({ docId }) => docId)))
  return scoreEach(questions, predictions, documents).map(({ inQuote, isUnanswerable }, index) => ({
    confidence: answers[index]?.confidence ?? 0,
    margin: answers[index]?.margin ?? -1,
    isAnswerable: !isUnanswerable,
    isRight: inQuote,
  }))
}

async function* documentsOf(folder: string): AsyncGenerator<{ source: string; text: string; title: string }> {
  for await (const { id, title, text } of readCorpus(folder)) yield { source: id, title, text }
}

const WIDTH = 560
const HEIGHT = 340
const EDGE = 50
/** Room on the left and right for what is written beside the axes. */
const MARGIN = 16

function picture(points: readonly Point[]): string {
  const x = (share: number): string => (EDGE + share * (WIDTH - EDGE - 20)).toFixed(1)
  const most = Math.ceil(Math.max(0.1, ...points.map(({ wrong }) => wrong)) * 10) / 10
  const y = (share: number): string => (HEIGHT - EDGE - (share / most) * (HEIGHT - EDGE - 20)).toFixed(1)
  const grid = [0, 0.2, 0.4, 0.6, 0.8, 1]
  const chosen = points.find(({ caution }) => caution === 0)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-MARGIN} 0 ${WIDTH + 2 * MARGIN} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect x="${-MARGIN}" width="${WIDTH + 2 * MARGIN}" height="${HEIGHT}" fill="#fff"/>
${grid.map((share) => `<line x1="${x(share)}" x2="${x(share)}" y1="20" y2="${HEIGHT - EDGE}" stroke="#ddd"/><text x="${x(share)}" y="${HEIGHT - EDGE + 16}" text-anchor="middle">${share * 100} %</text>`).join('\n')}
${grid.map((part) => `<line x1="${EDGE}" x2="${WIDTH - 20}" y1="${y(part * most)}" y2="${y(part * most)}" stroke="#ddd"/><text x="${EDGE - 6}" y="${Number(y(part * most)) + 4}" text-anchor="end">${(part * most * 100).toFixed(0)} %</text>`).join('\n')}
<polyline fill="none" stroke="#36c" stroke-width="2" points="${points.map(({ answered, wrong }) => `${x(answered)},${y(wrong)}`).join(' ')}"/>
${points.map(({ answered, wrong }) => `<circle cx="${x(answered)}" cy="${y(wrong)}" r="3" fill="#36c"/>`).join('\n')}
${chosen === undefined ? '' : `<circle cx="${x(chosen.answered)}" cy="${y(chosen.wrong)}" r="7" fill="none" stroke="#c33" stroke-width="2"/>`}
<text x="${WIDTH / 2}" y="${HEIGHT - 12}" text-anchor="middle">questions answered (the default is circled)</text>
<text x="0" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 0 ${HEIGHT / 2})">wrong among the answered</text>
</svg>
`
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { svg: { type: 'string' } } })
  const [folder] = positionals
  if (folder === undefined) throw new Error('expected the folder of a collection')
  const tried = await tryAll(folder)
  const points = curveOf(tried)
  const percent = (share: number): string => (share * 100).toFixed(1)
  console.log(
    '| confidence needed | answered | wrong among the answered | answerable, refused | unanswerable, refused |\n|---|---|---|---|---|',
  )
  for (const { caution, answered, wrong, refusedAnswerable, refusedUnanswerable } of points) {
    const name = caution === 0 ? '**as it is**' : `${caution > 0 ? '+' : '−'}${Math.abs(caution)}`
    console.log(
      `| ${name} | ${percent(answered)} % | ${percent(wrong)} % | ${percent(refusedAnswerable)} % | ${percent(refusedUnanswerable)} % |`,
    )
  }
  console.log('\n| confidence | questions | mean | documents hold an answer | quote holds it |\n|---|---|---|---|---|')
  for (const [index, low] of BINS.slice(0, -1).entries()) {
    const high = BINS[index + 1] ?? 1
    const own = tried.filter(({ confidence }) => confidence >= low && confidence < high)
    if (own.length === 0) continue
    const mean = own.reduce((sum, { confidence }) => sum + confidence, 0) / own.length
    const right = own.filter(({ isRight }) => isRight).length / own.length
    const held = own.filter(({ isAnswerable }) => isAnswerable).length / own.length
    console.log(
      `| ${low} to ${Math.min(1, high)} | ${own.length} | ${mean.toFixed(2)} | ${percent(held)} % | ${percent(right)} % |`,
    )
  }
  if (values.svg !== undefined) await writeFile(values.svg, picture(points))
}
