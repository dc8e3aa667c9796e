/**
 * Measures event loop delay while questions are answered from documents, by AsyncQueryBot and, as a control, by QueryBot.
 *
 *     npm run bench -- event-loop [CHUNKS] [ROUNDS] [--check]      default 100000 3
 *
 * Asks 100 questions, 20 at a time, over generated chunks, with the journal on and a model that streams 32 deltas, 2 ms apart. The score is
 * the 99th percentile of the delay beyond that of the idle process. The goal is less than 20 ms; the control must exceed it, otherwise the
 * measurement proves nothing. The first round runs with cold caches; `--check` uses the best round of each bot, because other processes
 * only add to a delay.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { AsyncQueryBot } from '../src/bots/async-query-bot.ts'
import { QueryBot } from '../src/bots/query-bot.ts'
import { percentile } from '../src/eval/port.ts'
import { openRecorder } from '../src/app/journal.ts'
import { ScriptedModel } from '../src/providers/scripted/scripted-model.ts'
import { SqliteDocumentStore } from '../src/stores/sqlite.ts'
import { Texts } from './support/texts.ts'

const QUESTIONS = 100
const AT_A_TIME = 20
const DELTAS = 32
const PROMISED_MS = 20
const IDLE_MS = 2000

interface Delay {
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** CPU time of this thread between two turns of its loop: the delay on an otherwise idle machine. */
  readonly cpu: { readonly p99: number; readonly max: number }
  readonly seconds: number
}

async function delayDuring(work: () => Promise<unknown>): Promise<Delay> {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  histogram.enable()
  await setTimeout(50)
  const cpu: number[] = []
  let last = process.threadCpuUsage()
  const sampling = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last)
    cpu.push((user + system) / 1000)
    last = process.threadCpuUsage()
  }, 1)
  histogram.reset()
  // A delay is what lies between two ticks: the first one has to come before the work begins.
  await setTimeout(5)
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  await setTimeout(5)
  histogram.disable()
  clearInterval(sampling)
  const ms = (nanoseconds: number): number => nanoseconds / 1e6
  return {
    p50: ms(histogram.percentile(50)),
    p99: ms(histogram.percentile(99)),
    max: ms(histogram.max),
    cpu: { p99: percentile(cpu, 0.99), max: Math.max(...cpu) },
    seconds,
  }
}

async function fill(store: SqliteDocumentStore, chunks: number): Promise<string[]> {
  const [texts, asked] = [new Texts(7), new Texts(8)]
  const questions: string[] = []
  const every = Math.max(1, Math.floor(chunks / QUESTIONS))
  for (let from = 0; from < chunks; from += 1000) {
    const documents = Array.from({ length: Math.min(1000, chunks - from) }, (_, at) => ({
      source: `generated/${from + at}`,
      text: texts.chunk(),
    }))
    for (const [at, { text }] of documents.entries()) if ((from + at) % every === 0) questions.push(asked.question(text))
    await store.extend(documents)
  }
  return questions.slice(0, QUESTIONS)
}

async function askAll(bot: QueryBot, questions: readonly string[]): Promise<void> {
  const left = questions.values()
  const asking = async (): Promise<void> => {
    for (const question of left) await bot.ask(question)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, asking))
}

function line(name: string, { p50, p99, max, cpu, seconds }: Delay, idle: Delay): string {
  return [
    `  ${name.padEnd(14)} p99 beyond idle ${(p99 - idle.p99).toFixed(1)} ms (p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, max ${max.toFixed(1)})`,
    `CPU of a turn p99 ${cpu.p99.toFixed(1)}, max ${cpu.max.toFixed(1)} ms`,
    `${seconds.toFixed(2)} s`,
  ].join('; ')
}

const [chunks = 100_000, rounds = 3] = process.argv.slice(2).map(Number).filter(Number.isFinite)
const folder = mkdtempSync(join(tmpdir(), 'cria-bench-event-loop-'))
const docstore = await SqliteDocumentStore.open({ path: join(folder, 'store.db') })
const recorder = await openRecorder(join(folder, 'journal.db'))
try {
  const questions = await fill(docstore, chunks)
  console.log(`${chunks} chunks, ${questions.length} questions, ${AT_A_TIME} at a time`)
  const model = new ScriptedModel(() => ({
    text: Array.from({ length: DELTAS }, (_, at) => `word${at} `),
    before: async () => {
      await setTimeout(2)
    },
  }))
  const options = { docstore, model, recorder, streamTarget: 'api' as const }
  let [best, bestControl] = [Infinity, Infinity]
  for (let round = 1; round <= rounds; round++) {
    const idle = await delayDuring(() => setTimeout(IDLE_MS))
    const worker = await delayDuring(() => askAll(new AsyncQueryBot(options), questions))
    const control = await delayDuring(() => askAll(new QueryBot(options), questions))
    console.log(`round ${round}: idle p99 ${idle.p99.toFixed(1)} ms, max ${idle.max.toFixed(1)} ms`)
    console.log(line('AsyncQueryBot', worker, idle))
    console.log(line('QueryBot', control, idle))
    best = Math.min(best, worker.p99 - idle.p99)
    bestControl = Math.min(bestControl, control.p99 - idle.p99)
  }
  if (process.argv.includes('--check') && (best >= PROMISED_MS || bestControl < PROMISED_MS)) process.exitCode = 1
} finally {
  await recorder.close()
  await docstore.close()
  rmSync(folder, { recursive: true, force: true })
}
