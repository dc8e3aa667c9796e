/** Bots for servers while another process holds the lock of their journal or memory. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRecorder } from '../app/journal.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { SqliteDocumentStore } from '../stores/sqlite.ts'
import { AsyncQueryBot } from './async-query-bot.ts'
import { AsyncSimpleBot } from './simple-bot.ts'

const HOLDER = join(import.meta.dirname, '../../test/support/lock-holder.ts')
/** Milliseconds for which the event loop may stand still, 99 times of 100. */
const MOST_P99_MS = 10
/** Milliseconds for which it may stand still once, on a machine that has other things to do as well. */
const MOST_MS = 500
const ROUNDS = 4

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-locked-bots-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Resolves when another process holds the lock of the file, to what resolves when that process has ended. */
async function hold(path: string, ms: number): Promise<{ readonly released: Promise<unknown> }> {
  const child = spawn(process.execPath, [HOLDER, path, String(ms)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const released = once(child, 'exit')
  await once(child.stdout, 'data')
  return { released }
}

/** Milliseconds for which the event loop stood still: at most, and at most in 99 of 100 samples. */
async function delayDuring(work: () => Promise<unknown>): Promise<{ readonly max: number; readonly p99: number }> {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  histogram.enable()
  await work()
  histogram.disable()
  return { max: histogram.max / 1e6, p99: histogram.percentile(99) / 1e6 }
}

it.each(['AsyncSimpleBot', 'AsyncQueryBot'])(
  'CORE-SIMPLE-030 QRY-RAG-030 %s waits for locks of its journal and its memory without holding the event loop',
  async (kind) => {
    const recorder = await openRecorder({ path: join(folder, 'cria.db') })
    const memory = SqliteDocumentStore.openSync({ path: join(folder, 'memory.db') })
    const docstore = await SqliteDocumentStore.open({ path: join(folder, 'docs.db') })
    await docstore.append('The mill was built in 1874.')
    const model = new ScriptedModel(() => 'The mill dates from 1874.')
    const options = { model, memory, recorder }
    const bot = kind === 'AsyncSimpleBot' ? new AsyncSimpleBot(options) : new AsyncQueryBot({ ...options, docstore })
    await bot.ask('Is everything loaded?')

    const answers: Promise<{ readonly turnId: string }>[] = []
    const ask = (): Promise<unknown> => {
      for (let at = 0; at < 10; at++) answers.push(bot.ask(`Question ${at}`))
      return Promise.all(answers)
    }
    // The time that other processes take differs from round to round; the time that the code takes does not.
    let [p99, max] = [Infinity, Infinity]
    for (let round = 0; round < ROUNDS && (p99 >= MOST_P99_MS || max >= MOST_MS); round++) {
      const locks = [await hold(join(folder, 'cria.db'), 1000), await hold(join(folder, 'memory.db'), 2000)]
      const locked = await delayDuring(ask)
      await Promise.all(locks.map(({ released }) => released))
      p99 = Math.min(p99, locked.p99)
      max = Math.min(max, locked.max)
    }
    expect(p99).toBeLessThan(MOST_P99_MS)
    expect(max).toBeLessThan(MOST_MS)
    for (const { turnId } of await Promise.all(answers))
      expect((await recorder.read.turn(turnId))?.turn).toMatchObject({ status: 'done' })
    expect(await memory.retrieve('mill dates', 50)).not.toHaveLength(0)
    for (const each of [recorder, memory, docstore]) await each.close()
  },
)
