/** Tests the embedded model on a real collection, which is third-party data outside the repository. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { QueryBot } from '../../src/bots/query-bot.ts'
import { evaluateAnswers, readCorpus, toAnswered } from '../../src/eval/port.ts'
import type { AnswerReport } from '../../src/eval/port.ts'
import { EXTRACTIVE_REF } from '../../src/providers/extractive/model.ts'
import { SqliteDocumentStore } from '../../src/stores/sqlite.ts'
import { SHARED } from '../support/shared.ts'

const COLLECTION = join(SHARED, 'retrieval/answers-dev')
const SCORER = join(SHARED, 'retrieval/score-answers.mjs')
const present = existsSync(join(COLLECTION, 'answers.jsonl')) && existsSync(SCORER)
if (!present)
  console.warn(`SKIPPED: there is no collection of questions at ${COLLECTION}; name its place in CRIA_SHARED to run these tests.`)

const folder = mkdtempSync(join(tmpdir(), 'cria-answers-'))
const predictions = join(folder, 'predictions.jsonl')
let report: AnswerReport | undefined
let unsupported = 0

beforeAll(async () => {
  if (!present) return
  const store = await SqliteDocumentStore.open({ path: ':memory:' })
  await store.extend(readCorpus(COLLECTION))
  const bot = new QueryBot({ docstore: store, model: EXTRACTIVE_REF, recorder: false, streamTarget: 'none' })
  report = await evaluateAnswers(
    COLLECTION,
    async (question) => {
      const answer = await bot.ask(question)
      unsupported += (answer.citations ?? []).filter(({ supported }) => !supported).length
      return toAnswered(answer, { quotes: true })
    },
    { predictions },
  )
  await store.close()
}, 120_000)

afterAll(() => {
  rmSync(folder, { recursive: true })
})

test.runIf(present)('QRY-RAG-022 the embedded model quotes the answer, from the right document, or refuses', () => {
  expect(report?.inQuote).toBeGreaterThanOrEqual(0.63)
  expect(report?.citeCorrect).toBeGreaterThanOrEqual(0.93)
  expect(report?.abstained).toBeLessThanOrEqual(0.11)
  expect(report?.abstainedUnanswerable).toBeGreaterThanOrEqual(0.64)
  expect(report?.quoteVerbatim).toBe(1)
  expect(unsupported).toBe(0)
})

test.runIf(present)('scores are equal to those of the scorer of the collection', async () => {
  const lines = (file: string): unknown[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line))
  const { scoreAnswers } = (await import(pathToFileURL(SCORER).href)) as {
    scoreAnswers: (input: Record<string, unknown>) => { summary: Record<string, number> }
  }
  const { summary } = scoreAnswers({
    corpus: lines(join(COLLECTION, 'corpus.jsonl')),
    answers: lines(join(COLLECTION, 'answers.jsonl')),
    unanswerable: lines(join(COLLECTION, 'unanswerable.jsonl')),
    predictions: lines(predictions),
  })
  // The scorer rounds to four digits.
  const digits = 3
  expect(report?.exactMatch).toBeCloseTo(summary['em'] ?? -1, digits)
  expect(report?.f1).toBeCloseTo(summary['f1'] ?? -1, digits)
  expect(report?.inQuote).toBeCloseTo(summary['grounded_40'] ?? -1, digits)
  expect(report?.abstained).toBeCloseTo(summary['abstained'] ?? -1, digits)
  expect(report?.abstainedUnanswerable).toBeCloseTo(summary['abstain_rate'] ?? -1, digits)
})
