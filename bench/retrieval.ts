/**
 * Measures indexing and searching of generated texts, or of the sentences of BEIR collections, compared with a bare FTS5 table with
 * the same texts. The two are measured in turn.
 *
 *     node bench/retrieval.ts [CHUNKS...] [FILE.jsonl...]      default 1000 10000 100000
 *
 * The bare table is searched with an OR of all words of the question, for the ten best rows by its own rank.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { percentile } from '../src/eval/port.ts'
import type { SourceDocument } from '../src/core/store.ts'
import { SqliteDocumentStore } from '../src/stores/sqlite.ts'
import { sentencesOf, Texts } from './support/texts.ts'

const QUERIES = 400
const BATCH = 4000

function time(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const ms = (values: readonly number[]): string =>
  `${percentile(values, 0.5).toFixed(2)} / ${percentile(values, 0.99).toFixed(2)} ms`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`

async function bench(chunks: number, folder: string, sentences: readonly string[]): Promise<void> {
  const texts = new Texts(7, sentences)
  const asked = new Texts(8)
  const questions: string[] = []
  const path = join(folder, `${chunks}.db`)
  const bare = new DatabaseSync(join(folder, `${chunks}-fts.db`))
  bare.exec("PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE bare USING fts5(text, tokenize = 'porter unicode61')")
  const insert = bare.prepare('INSERT INTO bare (rowid, text) VALUES (?, ?)')

  const store = await SqliteDocumentStore.open({ path })
  let indexing = 0
  let bareIndexing = 0
  let memory = 0
  for (let from = 0; from < chunks; from += BATCH) {
    const documents: SourceDocument[] = Array.from({ length: Math.min(BATCH, chunks - from) }, (_, at) => ({
      source: `generated/${from + at}`,
      text: texts.chunk(),
    }))
    const every = Math.max(1, Math.floor(chunks / QUERIES))
    for (const [at, { text }] of documents.entries()) if ((from + at) % every === 0) questions.push(asked.question(text))
    indexing += await timed(() => store.extend(documents))
    bareIndexing += time(() => {
      bare.exec('BEGIN')
      documents.forEach(({ text }, at) => insert.run(from + at + 1, text))
      bare.exec('COMMIT')
    })
    memory = Math.max(memory, process.memoryUsage().rss)
  }
  await store.close()

  const began = performance.now()
  const fresh = await SqliteDocumentStore.open({ path, readOnly: true })
  await fresh.retrieve(questions[0] ?? '', 10)
  const first = performance.now() - began
  const select = bare.prepare('SELECT rowid, rank FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT 10')
  const own: number[] = []
  const theirs: number[] = []
  for (const question of questions) {
    own.push(await timed(() => fresh.retrieve(question, 10)))
    const match = question
      .split(' ')
      .map((word) => `"${word}"`)
      .join(' OR ')
    theirs.push(time(() => select.all(match)))
  }
  const { bytes, terms } = await fresh.stats()
  await fresh.close()
  bare.close()
  console.log(
    `${String(chunks).padStart(9)} chunks, ${terms} terms: search ${ms(own)} (p50 / p99), bare FTS5 ${ms(theirs)},` +
      ` ratio of p99 ${(percentile(own, 0.99) / percentile(theirs, 0.99)).toFixed(2)}; open and first search ${first.toFixed(1)} ms;` +
      ` indexed ${Math.round((1000 * chunks) / indexing)} chunks/s, bare ${Math.round((1000 * chunks) / bareIndexing)},` +
      ` ratio of times ${(indexing / bareIndexing).toFixed(2)};` +
      ` file ${megabytes(bytes)}, bare ${megabytes(statSync(join(folder, `${chunks}-fts.db`)).size)}; memory ${megabytes(memory)}`,
  )
}

const sizes = process.argv
  .slice(2)
  .filter((arg) => /^\d+$/.test(arg))
  .map(Number)
const sentences = sentencesOf(process.argv.slice(2).filter((arg) => !/^\d+$/.test(arg)))
const folder = mkdtempSync(join(tmpdir(), 'cria-bench-retrieval-'))
try {
  for (const size of sizes.length === 0 ? [1000, 10_000, 100_000] : sizes) await bench(size, folder, sentences)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
