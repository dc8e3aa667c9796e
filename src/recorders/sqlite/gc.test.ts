import { execFileSync } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { system, user } from '../../core/message.ts'
import { closeOf, entriesOf, openOf, stamper, STARTED_AT } from '../../testing/turns.ts'
import { mountSmall } from '../../../test/support/small-disk.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import { JOURNAL } from './journal.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { SqliteRecorder } from './recorder.ts'

const HOUR = 3_600_000

describe('gc', () => {
  const place = journalFolder()
  let recorder: SqliteRecorder

  beforeEach(async () => {
    recorder = await place.open({ clock: { now: () => STARTED_AT + 1000 * HOUR } })
  })

  async function write(n: number, promptHash = 'a'): Promise<void> {
    const open = openOf(`turn_${n}`, {
      sessionId: `session_${n}`,
      traceId: `trace_${n}`,
      startedAt: STARTED_AT + n * HOUR,
      promptHash,
    })
    const at = stamper(open)
    await recorder.openTurn(open)
    const messages = [system('The same for all. '.repeat(100)), user(`${n} `.repeat(500))]
    const text = at(1, { type: 'text_delta', text: `${n} `.repeat(2000), attempt: 1 })
    await recorder.record(open.turnId, [{ type: 'messages', step: 0, messages }, ...entriesOf([text])])
    await recorder.closeTurn(open.turnId, closeOf(at(1, { type: 'cancelled', reason: 'Enough.' })))
    const times = { startedAt: open.startedAt, endedAt: open.startedAt + 1 }
    const span = {
      spanId: `${n}`,
      parentSpanId: null,
      name: 'query',
      attributes: {},
      events: [],
      status: 'ok' as const,
      ...times,
    }
    recorder.span({ ...span, traceId: open.traceId, turnId: open.turnId })
    recorder.span({ ...span, traceId: open.traceId, spanId: `${n}-outer` })
    await recorder.feedback({ at: open.startedAt + 2, choice: 'first', first: open.turnId, second: 'other', question: '?' })
  }

  function count(table: string): number {
    const connection = openFile(JOURNAL, { path: place.path, readOnly: true, synchronous: 'normal' })
    const row = connection.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
    connection.close()
    return row?.n ?? -1
  }

  it('shrinks the file to the requested size, and leaves no remains of removed turns', async () => {
    for (let n = 0; n < 300; n++) await write(n, `prompt_${n % 3}`)
    const maxBytes = 1_500_000
    const unlimited = { maxAgeMs: Number.MAX_SAFE_INTEGER }
    const before = statSync(place.path).size
    expect(before).toBeGreaterThan(2 * maxBytes)
    const planned = await recorder.gc({ ...unlimited, maxBytes, dryRun: true })
    const report = await recorder.gc({ ...unlimited, maxBytes })

    expect(statSync(place.path).size).toBeLessThanOrEqual(maxBytes)
    expect(statSync(place.path).size).toBeGreaterThan(maxBytes * 0.7)
    expect(report.bytes).toBeGreaterThan((before - maxBytes) * 0.8)
    expect(Math.abs(planned.turns - report.turns)).toBeLessThan(report.turns * 0.2)
    const left = 300 - report.turns
    expect(report).toMatchObject({ sessions: report.turns, oldest: STARTED_AT, newest: STARTED_AT + (report.turns - 1) * HOUR })
    expect(recorder.read.turns({ limit: 1000 }).turns.at(-1)?.turnId).toBe(`turn_${report.turns}`)
    for (const table of ['turns', 'sessions', 'turn_search', 'feedback']) expect([table, count(table)]).toEqual([table, left])
    expect(count('spans')).toBe(2 * left)
    expect(count('messages')).toBe(left + 1)
    expect(count('turn_messages')).toBe(2 * left)
    expect(count('events')).toBe(2 * left)
    expect(await recorder.gc({ ...unlimited, maxBytes })).toMatchObject({
      turns: 0,
      sessions: 0,
      bytes: 0,
      oldest: null,
      newest: null,
    })
  })

  it('REC-PROMPT-001 prompts are versioned by hash in the order of first use, and numbering continues after their removal', async () => {
    for (const [n, hash] of ['one', 'two', 'two', 'one', 'three'].entries()) await write(n, hash)
    const versions = (): unknown[] => {
      const connection = openFile(JOURNAL, { path: place.path, readOnly: true, synchronous: 'normal' })
      const rows = connection.all<{ hash: string; version: number }>(
        `SELECT hash, version FROM prompts WHERE bot = 'librarian' ORDER BY version`,
      )
      connection.close()
      return rows.map(({ hash, version }) => `${hash} ${version}`)
    }
    expect(versions()).toEqual(['one 1', 'two 2', 'three 3'])
    await recorder.gc({ maxAgeMs: 0 })
    expect(versions()).toEqual(['three 3'])
    await write(5, 'four')
    expect(versions()).toEqual(['three 3', 'four 4'])
  })

  it('uses default limits unless others are given', async () => {
    await write(0)
    expect(await recorder.gc()).toMatchObject({ turns: 0, dryRun: false })
  })

  it('can run while others write', async () => {
    for (let n = 0; n < 50; n++) await write(n)
    const other = await SqliteRecorder.open({ path: place.path, clock: { now: () => STARTED_AT + 1000 * HOUR } })
    await other.openTurn(openOf('turn_open', { sessionId: 'open' }))
    await recorder.gc({ maxAgeMs: 0 })
    await other.record('turn_open', [{ type: 'messages', step: 0, messages: [system('The same for all. '.repeat(100))] }])
    expect(recorder.read.turns().turns.map(({ turnId }) => turnId)).toEqual(['turn_open'])
    expect(recorder.read.turn('turn_open')?.messages).toHaveLength(1)
    await other.close()
  })

  it('blocks neither this process nor others', async () => {
    for (let n = 0; n < 600; n++) await write(n)
    const other = await SqliteRecorder.open({ path: place.path, clock: { now: () => STARTED_AT + 1000 * HOUR } })
    const histogram = monitorEventLoopDelay({ resolution: 5 })
    histogram.enable()
    const waits: number[] = []
    const done = new AbortController()
    const cleaning = recorder.gc({ maxAgeMs: 0 }).finally(() => done.abort())
    for (let n = 0; ; n++) {
      if (done.signal.aborted) break
      const open = openOf(`other_${n}`, { sessionId: 'other', startedAt: STARTED_AT + 1000 * HOUR })
      const began = performance.now()
      await other.openTurn(open)
      waits.push(performance.now() - began)
      await other.closeTurn(open.turnId, closeOf(stamper(open)(0, { type: 'cancelled', reason: '' })))
      await sleep(5)
    }
    histogram.disable()
    expect(await cleaning).toMatchObject({ turns: 600 })
    expect(waits.length).toBeGreaterThan(3)
    expect(Math.max(...waits)).toBeLessThan(1000)
    expect(histogram.max / 1e6).toBeLessThan(500)
    await other.close()
  })

  it('stops when it is aborted, and keeps the removals made so far', async () => {
    for (let n = 0; n < 600; n++) await write(n)
    const enough = new AbortController()
    setTimeout(() => enough.abort(), 30)
    const report = await recorder.gc({ maxAgeMs: 0, signal: enough.signal })
    expect(report.turns).toBeGreaterThan(0)
    expect(report.turns).toBeLessThan(600)
    expect(recorder.read.turns({ limit: 1000 }).turns).toHaveLength(600 - report.turns)
  })

  it('leaves the sums of the remaining turns', async () => {
    for (let n = 0; n < 60; n++) await write(n)
    await recorder.gc({ maxAgeMs: 965 * HOUR })
    const left = recorder.read.turns({ limit: 1000 }).turns
    expect(left.length).toBeGreaterThan(0)
    expect(recorder.stats().reduce((sum, { turns }) => sum + turns, 0)).toBe(left.length)
    expect(recorder.sessionStats(1000).map(({ sessionId }) => sessionId)).toEqual(left.map(({ sessionId }) => sessionId))
  })

  it('works on a nearly full disk', async ({ skip }) => {
    await recorder.close()
    const small = join(place.folder, 'small')
    if (!mountSmall(small, '16m')) skip('mounting a small file system is not permitted here')
    try {
      const path = join(small, 'cria.db')
      recorder = await SqliteRecorder.open({ path })
      const ballast = join(small, 'ballast')
      writeFileSync(ballast, Buffer.alloc(5_000_000))
      const fill = async (): Promise<void> => {
        for (let n = 0; n < 5000; n++) await write(n)
      }
      await expect(fill()).rejects.toMatchObject({ code: 'journal_failed' })
      await recorder.close()
      recorder = await SqliteRecorder.open({ path })
      const limits = { maxAgeMs: Number.MAX_SAFE_INTEGER, maxBytes: 500_000 }
      await expect(recorder.gc(limits)).rejects.toMatchObject({
        code: 'journal_failed',
        hint: expect.not.stringContaining('cria logs gc') as unknown,
      })
      rmSync(ballast)
      writeFileSync(ballast, Buffer.alloc(3_000_000))
      const before = statSync(path).size
      const report = await recorder.gc(limits)
      expect(report.turns).toBeGreaterThan(10)
      expect(statSync(path).size).toBeLessThan(before / 2)
      await write(3000)
    } finally {
      await recorder.close()
      execFileSync('umount', ['-l', small])
    }
  })
})
