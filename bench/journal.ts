/**
 * Measures the cost of recording a turn, at the beginning of a session and after ten thousand turns, compared with bare INSERTs of
 * the same size in the same number of transactions.
 *
 *     npm run bench -- journal [TURNS] [--check]
 *
 * Reports CPU time of the process (user and system) over the turns after each mark: the median, and the mean, which includes
 * checkpoints and index merges. The goal is less than 1 ms, constant over the session.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { EventStamp, QueryEvent } from '../src/core/event.ts'
import { createId } from '../src/core/id.ts'
import { assistant, retrieved, system, user } from '../src/core/message.ts'
import type { Message } from '../src/core/message.ts'
import type { JournalEntry, TurnClose, TurnOpen } from '../src/core/recorder.ts'
import type { SpanRecord } from '../src/core/span.ts'
import type { Usage } from '../src/core/usage.ts'
import { SqliteRecorder } from '../src/recorders/sqlite/recorder.ts'
import { closeOf, openOf, resultOf } from '../src/testing/turns.ts'

interface Shape {
  readonly name: string
  readonly chunks: number
  /** Groups of deltas that arrive together: 16 tokens each. */
  readonly batches: number
  readonly spans: readonly string[]
}

const SHAPES: readonly Shape[] = [
  { name: 'a question and an answer of 160 tokens', chunks: 0, batches: 10, spans: ['simplebot.ask', 'llm_request'] },
  {
    name: 'a question over 20 passages and an answer of 400 tokens',
    chunks: 20,
    batches: 25,
    spans: ['querybot.ask', 'retrieval', 'query', 'llm_request'],
  },
]
const BATCH_CHARS = 64
/** Number of turns measured from each mark. */
const WINDOW = 200

const SYSTEM = 'Answer from the documents, and name your sources. '.repeat(30)

const turns = Number(process.argv[2] ?? 10_000)
const folder = mkdtempSync(join(tmpdir(), 'cria-bench-'))
const random = seededRandom(7)
const words = Array.from({ length: 20_000 }, (_, n) => (n === 900 ? 'lantern' : n === 3000 ? 'harbour' : `w${n.toString(36)}`))
const passages: string[] = []

try {
  for (const [index, shape] of SHAPES.entries()) {
    const path = join(folder, `${index}.db`)
    console.log(`\n${shape.name}: ${shape.batches + 4} transactions`)
    const journal = await measureJournal(path, shape)
    const bare = measureBare(join(folder, `${index}-bare.db`), shape)
    const marks = [10, 100, 1000, turns].filter((mark) => mark <= turns)
    console.table(
      marks.map((mark) => ({
        turn: mark,
        'cpu ms': round(medianFrom(journal, mark)),
        mean: round(meanFrom(journal, mark)),
        'bare INSERTs, cpu ms': round(medianFrom(bare, mark)),
        'their mean': round(meanFrom(bare, mark)),
        ratio: round(medianFrom(journal, mark) / medianFrom(bare, mark)),
      })),
    )
    const [first, last] = [medianFrom(journal, 10), medianFrom(journal, turns)]
    console.log(`turn ${turns} : turn 10 = ${round(last / first)}, ${round(statSync(path).size / turns / 1024)} KiB a turn`)
    if (process.argv.includes('--check') && (last >= 1 || last / first > 1.5)) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** CPU milliseconds of each turn. */
async function measureJournal(path: string, shape: Shape): Promise<number[]> {
  const recorder = await SqliteRecorder.open({ path })
  const times: number[] = []
  for (const turn of makeTurns(shape)) {
    const begun = process.cpuUsage()
    await recorder.openTurn(turn.open)
    for (const batch of turn.batches) await recorder.record(turn.open.turnId, batch)
    for (const span of turn.spans) recorder.span(span)
    await recorder.closeTurn(turn.open.turnId, turn.close)
    times.push(since(begun))
  }
  const begun = performance.now()
  const history = recorder.read.history('session')
  const ms = performance.now() - begun
  console.log(`history of the session: ${history.length} messages in ${round(ms)} ms`)
  for (const search of ['harbour', 'harbour lantern']) {
    const begun = performance.now()
    const found = recorder.read.turns({ search })
    console.log(`search "${search}": ${found.turns.length} turns in ${round(performance.now() - begun)} ms`)
  }
  await recorder.close()
  return times
}

/** The same texts, one row each, into a table without index, in the same transactions. */
function measureBare(path: string, shape: Shape): number[] {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)')
  const [begin, insert, commit] = ['BEGIN IMMEDIATE', 'INSERT INTO rows (text) VALUES (?)', 'COMMIT'].map((sql) =>
    database.prepare(sql),
  )
  const times: number[] = []
  for (const turn of makeTurns(shape)) {
    const transactions = [[turn.open], ...turn.batches.map(rowsOf), [...turn.spans, turn.close]]
    const begun = process.cpuUsage()
    for (const rows of transactions) {
      begin?.run()
      for (const row of rows) insert?.run(JSON.stringify(row))
      commit?.run()
    }
    times.push(since(begun))
  }
  database.close()
  return times
}

function rowsOf(batch: readonly unknown[]): unknown[] {
  return batch.flatMap((entry) => ('messages' in (entry as object) ? (entry as { messages: unknown[] }).messages : [entry]))
}

/** Made by the hundred, so that little of what the making costs is counted with what follows. */
function* makeTurns(shape: Shape): Generator<Turn> {
  for (let n = 0; n < turns; n += 100) {
    yield* Array.from({ length: Math.min(100, turns - n) }, (_, index) => makeTurn(n + index, shape))
  }
}

interface Turn {
  readonly open: TurnOpen
  readonly batches: readonly (readonly JournalEntry[])[]
  readonly spans: readonly SpanRecord[]
  readonly close: TurnClose
}

function makeTurn(n: number, shape: Shape): Turn {
  const turnId = createId('turn')
  const traceId = n.toString(16).padStart(32, '0')
  const start = 1_700_000_000_000 + n * 1000
  let seq = 0
  const stamp = (step: number): EventStamp => ({ sessionId: 'session', turnId, step, seq: seq++, at: start + seq })
  const entry = (event: QueryEvent): JournalEntry => ({ type: 'event', event })
  const texts = Array.from({ length: shape.batches }, () => prose(BATCH_CHARS))
  const message: Message = assistant(texts.join(''))
  const usage: Usage = {
    inputTokens: 6000,
    outputTokens: 400,
    totalTokens: 6400,
    cacheReadTokens: 0,
    cacheWriteTokens: null,
    reasoningTokens: 0,
    exactness: 'exact',
  }
  const question = prose(80)
  const composed = [system(SYSTEM), ...Array.from({ length: shape.chunks }, (_, i) => passage(i)), user(question)]
  const batches: JournalEntry[][] = [
    [
      { type: 'messages', step: 0, messages: composed },
      entry({ type: 'start', model: 'builtin/extractive', bot: { kind: 'QueryBot' }, ...stamp(0) }),
    ],
    ...texts.map((text) => [entry({ type: 'text_delta', text, attempt: 1, ...stamp(1) })]),
    [entry({ type: 'usage', usage, ...stamp(1) }), entry({ type: 'message', message, ...stamp(1) })],
  ]
  const model = 'builtin/extractive'
  const open = openOf(turnId, {
    bot: { kind: 'QueryBot' },
    model,
    temperature: 0,
    question,
    startedAt: start,
    traceId,
    spanId: '0'.repeat(16),
  })
  const result = { ...resultOf(open, message.content), usage, costUsd: 0, model }
  return {
    open,
    batches,
    spans: shape.spans.map((name, i) => ({
      traceId,
      spanId: i.toString(16).padStart(16, '0'),
      parentSpanId: null,
      name,
      startedAt: start,
      endedAt: start + 100,
      attributes: { 'gen_ai.request.model': 'builtin/extractive', 'cria.query': question, 'gen_ai.usage.input_tokens': 6000 },
      events: [],
      status: 'ok' as const,
      turnId,
    })),
    close: closeOf({ type: 'complete', result, ...stamp(1) }, { model, text: message.content, usage, costUsd: 0 }),
  }
}

/** Returns a chunk of a store: most chunks were sent in an earlier turn, with another score. */
function passage(rank: number): Message {
  const n = Math.floor(random() ** 2 * 2000)
  passages[n] ??= prose(1200)
  const chunk = { id: `chunk_${n}`, text: passages[n], source: `doc-${n}.md`, start: 0, end: 1200, metadata: {}, score: random() }
  return retrieved({ marker: String(rank + 1), origin: 'docstore', store: 'default', chunk })
}

function prose(chars: number): string {
  let text = ''
  while (text.length < chars) text += `${words[Math.floor(random() ** 3 * words.length)] ?? ''} `
  return text.slice(0, chars)
}

function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function since(begun: NodeJS.CpuUsage): number {
  const { user: inUser, system: inSystem } = process.cpuUsage(begun)
  return (inUser + inSystem) / 1000
}

function windowFrom(times: readonly number[], mark: number): number[] {
  const start = Math.max(0, Math.min(mark - 1, times.length - WINDOW))
  return times.slice(start, start + WINDOW)
}

function medianFrom(times: readonly number[], mark: number): number {
  const window = windowFrom(times, mark).toSorted((a, b) => a - b)
  return window[Math.floor(window.length / 2)] ?? Number.NaN
}

function meanFrom(times: readonly number[], mark: number): number {
  const window = windowFrom(times, mark)
  return window.reduce((sum, time) => sum + time, 0) / window.length
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
