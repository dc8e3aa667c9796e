/** Tests several processes on one file, and processes killed at any moment. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isTerminal } from '../../core/event.ts'
import { wordOf } from '../../../test/support/journal-writer.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import { JOURNAL } from './journal.ts'
import { SqliteRecorder } from './recorder.ts'

/** Rounds of the crash test; `CRIA_CRASH_ROUNDS=300` for a long run. */
const ROUNDS = Number(process.env['CRIA_CRASH_ROUNDS'] ?? 40)
/** Number of processes that write, and die, at the same time. */
const TOGETHER = 4
/** Files left by a process that was killed while it created the journal; they are not taken for a journal. */
const DRAFT = /\.new(-wal|-shm|-journal)?$/
const WRITER = join(import.meta.dirname, '../../../test/support/journal-writer.ts')
const INTERRUPTED = join(import.meta.dirname, '../../../test/support/interrupted-turn.ts')

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-journal-'))
  path = join(folder, 'home', 'cria.db')
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

interface Writer {
  /** The confirmations that the process has printed. */
  readonly lines: () => string[]
  readonly ready: Promise<unknown>
  readonly kill: () => void
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>
}

function startWriter(name: string, turns?: number): Writer {
  const child = spawn(process.execPath, [WRITER, path, name, ...(turns === undefined ? [] : [String(turns)])])
  let [said, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  return {
    // Ignores a last line that was not completed.
    lines: () => said.split('\n').slice(0, -1),
    ready: once(child.stdout, 'data'),
    kill: () => child.kill('SIGKILL'),
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, errors })),
  }
}

/** Returns the events and ends that were confirmed for each turn. */
function promisesOf(lines: readonly string[]): Map<string, { events: number; isClosed: boolean }> {
  const promises = new Map<string, { events: number; isClosed: boolean }>()
  for (const line of lines) {
    const [what, turnId = '', events] = line.split(' ')
    if (what === 'opened') promises.set(turnId, { events: 0, isClosed: false })
    const promise = promises.get(turnId)
    if (promise !== undefined && what === 'stored') promise.events = Number(events)
    if (promise !== undefined && what === 'closed') promise.isClosed = true
  }
  return promises
}

function checkIntegrity(): void {
  const connection = openFile(JOURNAL, { path, readOnly: false, synchronous: 'normal' })
  expect(connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(connection.all('PRAGMA foreign_key_check')).toEqual([])
  connection.execute(`INSERT INTO turn_search (turn_search) VALUES ('integrity-check')`)
  connection.close()
}

function checkPromises(recorder: SqliteRecorder, lines: readonly string[]): { lost: number } {
  let lost = 0
  for (const [turnId, promise] of promisesOf(lines)) {
    const detail = recorder.read.turn(turnId)
    if (detail === undefined) throw new Error(`${turnId} was opened and is not there`)
    const { turn, events } = detail
    // The turn may have ended before the confirmation was printed.
    expect(turn.status).toBe(promise.isClosed || events.at(-1)?.type === 'complete' ? 'done' : 'lost')
    expect(events.length).toBeGreaterThan(promise.events)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(events.filter((event) => isTerminal(event))).toHaveLength(1)
    const words = events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
    expect(words).toEqual(words.map((_, index) => wordOf(turnId, index + 1)))
    expect(turn.text).toBe(words.join(''))
    if (turn.status === 'lost') lost += 1
  }
  return { lost }
}

describe('processes that are killed', () => {
  it(
    `REC-LOG-001 leave an intact journal with every opened turn, ${ROUNDS} times`,
    async () => {
      let lost = 0
      const all: string[] = []
      for (let round = 0; round < ROUNDS; round += TOGETHER) {
        const writers = Array.from({ length: Math.min(TOGETHER, ROUNDS - round) }, (_, n) => startWriter(`${round + n}`))
        await Promise.all(
          writers.map(async (writer) => {
            await writer.ready
            await sleep(Math.random() * 100)
            writer.kill()
            const { errors } = await writer.ended
            expect(errors).toBe('')
          }),
        )
        checkIntegrity()
        const recorder = await SqliteRecorder.open({ path })
        for (const writer of writers) {
          lost += checkPromises(recorder, writer.lines()).lost
          all.push(...writer.lines())
        }
        // Opened turns whose process died before it printed the confirmation.
        expect(recorder.sweep()).toBeLessThanOrEqual(TOGETHER)
        expect(recorder.sweep()).toBe(0)
        await recorder.close()
      }
      const recorder = await SqliteRecorder.open({ path })
      checkPromises(recorder, all)
      await recorder.close()
      console.log(`${ROUNDS} processes killed: ${promisesOf(all).size} turns begun, ${lost} lost, ${all.length} promises kept`)
      expect(lost).toBeGreaterThan(0)
    },
    ROUNDS * 2000,
  )

  it('while they create the file leave a working file or none', async () => {
    for (let round = 0; round < 4; round++) {
      path = join(folder, `home-${round}`, 'cria.db')
      const writers = Array.from({ length: 4 }, (_, n) => startWriter(`${n}`))
      for (const writer of writers) {
        await Promise.race([writer.ready, sleep(Math.random() * 100)])
        writer.kill()
      }
      await Promise.all(writers.map((writer) => writer.ended))
      const recorder = await SqliteRecorder.open({ path })
      for (const writer of writers) checkPromises(recorder, writer.lines())
      await recorder.close()
      checkIntegrity()
      expect(readdirSync(join(path, '..')).filter((name) => !DRAFT.test(name))).toEqual(['cria.db'])
    }
  }, 60_000)
})

describe('processes that write at the same time', () => {
  it('create one journal together, lose no row and see no lock error', async () => {
    const [processes, turns] = [8, 25]
    expect(existsSync(path)).toBe(false)
    const writers = Array.from({ length: processes }, (_, n) => startWriter(`${n}`, turns))
    for (const writer of writers) expect(await writer.ended).toEqual({ code: 0, errors: '' })
    const recorder = await SqliteRecorder.open({ path })
    for (const writer of writers) {
      const promises = promisesOf(writer.lines())
      expect(promises.size).toBe(turns)
      expect([...promises.values()].every(({ isClosed }) => isClosed)).toBe(true)
      expect(checkPromises(recorder, writer.lines())).toEqual({ lost: 0 })
    }
    expect(recorder.read.turns({ limit: 1000 }).turns).toHaveLength(processes * turns)
    for (let n = 0; n < processes; n++) expect(recorder.read.history(`session_${n}`)).toHaveLength(turns * 2)
    await recorder.close()
    expect(readdirSync(join(folder, 'home'))).toEqual(['cria.db'])
    checkIntegrity()
  }, 60_000)

  it('end a lost turn once, although several see it', async () => {
    const writer = startWriter('a')
    await writer.ready
    await sleep(20)
    writer.kill()
    await writer.ended
    const recorders = await Promise.all(Array.from({ length: 4 }, () => SqliteRecorder.open({ path })))
    const counts = await Promise.all(recorders.map(async (recorder) => recorder.sweep()))
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1)
    for (const recorder of recorders) {
      checkPromises(recorder, writer.lines())
      await recorder.close()
    }
  })
})

describe('a stopped process', () => {
  it('keeps its turn as long as it is alive, even without a sign of life', async () => {
    await (await SqliteRecorder.open({ path })).close()
    const child = spawn(process.execPath, [INTERRUPTED, path, 'session'], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGSTOP')
    // Opened with a clock two hours ahead.
    const recorder = await SqliteRecorder.open({ path, clock: { now: () => Date.now() + 7_200_000 } })
    expect(recorder.read.turns().turns.map(({ status }) => status)).toEqual(['open'])
    expect(await recorder.sweep()).toBe(0)
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(await recorder.sweep()).toBe(1)
    expect(recorder.read.turns().turns.map(({ status }) => status)).toEqual(['lost'])
    await recorder.close()
  })
})

describe('following turns of another process', () => {
  it('ends with what was stored and `turn_lost` when that process is killed', async () => {
    const recorder = await SqliteRecorder.open({ path })
    const writer = startWriter('followed')
    await writer.ready
    // Finds an open turn and follows it from its beginning; its process dies in between.
    let turnId: string | undefined
    while (turnId === undefined) {
      turnId = recorder.read.turns({ status: 'open' }).turns[0]?.turnId
      await sleep(1)
    }
    const seqs: number[] = []
    const followed = recorder.follow(turnId)
    const last = (async () => {
      let event
      for await (event of followed) seqs.push(event.seq)
      return event
    })()
    writer.kill()
    await writer.ended
    const end = await last
    expect(seqs).toEqual(seqs.map((_, index) => index))
    // The writer may have ended the turn before the signal reached it.
    if (end?.type !== 'complete') expect(end).toMatchObject({ type: 'error', error: { code: 'turn_lost' } })
    expect(recorder.read.events(turnId)).toHaveLength(seqs.length)
    await recorder.close()
  })

  it('yields events while they are written', async () => {
    const recorder = await SqliteRecorder.open({ path })
    const writer = startWriter('live', 12)
    await writer.ready
    const texts = new Map<string, string>()
    for (let n = 0; n < 12; n += 1) {
      const turnId = `turn_live_${n}`
      while (recorder.read.turn(turnId) === undefined) await sleep(1)
      let text = ''
      for await (const event of recorder.follow(turnId)) {
        if (event.type === 'text_delta') text += event.text
        if (event.type === 'complete') expect(event.result.text).toBe(text)
      }
      texts.set(turnId, text)
    }
    expect((await writer.ended).code).toBe(0)
    expect(texts.get('turn_live_3')).toContain(wordOf('turn_live_3', 1))
    await recorder.close()
  })
})
