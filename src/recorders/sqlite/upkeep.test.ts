/** Tests the automatic clean-up of the journal. */

import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { GcReport } from '../../core/recorder.ts'
import { closeOf, openOf, stamper } from '../../testing/turns.ts'
import { Connection } from '../../util/sqlite/connection.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { JOURNAL } from './journal.ts'
import type { SqliteRecorder } from './recorder.ts'
import { trustedTime } from './gc.ts'

const DAY = 86_400_000
const TODAY = Date.parse('2026-06-15T12:00:00Z')

const place = journalFolder()
let now: number

beforeEach(() => {
  now = TODAY
})

function open(onCleanUp?: (report: GcReport) => void): Promise<SqliteRecorder> {
  return place.open({ clock: { now: () => now }, ...(onCleanUp === undefined ? {} : { onCleanUp }) })
}

async function write(recorder: SqliteRecorder, turnId: string, startedAt: number): Promise<void> {
  const turn = openOf(turnId, { sessionId: turnId, startedAt })
  await recorder.openTurn(turn)
  await recorder.closeTurn(turnId, closeOf(stamper(turn)(0, { type: 'cancelled', reason: '' })))
}

/** Writes a turn on each of these days, counted back from today. */
async function writeDays(recorder: SqliteRecorder, days: readonly number[]): Promise<void> {
  for (const day of days) await write(recorder, `turn_${day}`, TODAY - day * DAY)
}

const daysTo = (oldest: number): number[] => Array.from({ length: oldest + 1 }, (_, day) => oldest - day)
const count = (recorder: SqliteRecorder): number => recorder.read.turns({ limit: 100_000 }).turns.length

describe('trustedTime', () => {
  it.each<[what: string, now: string, days: string[], expected: string | undefined]>([
    ['the fourth-newest day', '2026-06-15', ['2026-06-15', '2026-06-14', '2026-06-13', '2026-06-10', '2026-06-01'], '2026-06-10'],
    [
      'the clock, when it is behind the journal',
      '2026-06-01',
      ['2026-06-15', '2026-06-14', '2026-06-13', '2026-06-12'],
      '2026-06-01',
    ],
    ['no time, with fewer days', '2026-06-15', ['2026-06-15', '2026-06-14', '2026-06-13'], undefined],
    ['no time, with an invalid day', '2026-06-15', ['2026-06-15', '2026-06-14', '2026-06-13', ''], undefined],
    [
      'a real day before three days of a wrong clock',
      '2028-06-03',
      ['2028-06-03', '2028-06-02', '2028-06-01', '2026-06-15'],
      '2026-06-15',
    ],
  ])('is %s', (_what, at, days, expected) => {
    expect(trustedTime(Date.parse(at), days)).toBe(expected === undefined ? Number.NEGATIVE_INFINITY : Date.parse(expected))
  })
})

describe('the automatic clean-up', () => {
  it('keeps every turn when the clock is two years ahead, also after turns at that time', async () => {
    const recorder = await open()
    await writeDays(recorder, daysTo(30))
    now += 730 * DAY
    expect(await recorder.tend()).toBeUndefined()
    for (const day of [0, 1, 2]) {
      await write(recorder, `ahead_${day}`, now)
      expect(await recorder.tend()).toBeUndefined()
      now += DAY + 1
    }
    expect(count(recorder)).toBe(34)
  })

  it('removes turns older than a year, a small share per day, and reports them', async () => {
    const recorder = await open()
    await writeDays(recorder, daysTo(420))
    const removed: number[] = []
    for (let day = 0; day < 4; day++) {
      const report = await recorder.tend()
      if (report !== undefined) {
        expect(report).toMatchObject({ dryRun: false, oldest: TODAY - (420 - removed.reduce((a, b) => a + b, 0)) * DAY })
        removed.push(report.turns)
      }
      expect(await recorder.tend()).toBeUndefined()
      now += DAY
    }
    expect(removed).toEqual([20, 20, 12])
    const connection = openFile(JOURNAL, { path: place.path, readOnly: true, synchronous: 'normal' })
    expect(connection.all('SELECT turns, asked FROM cleanups ORDER BY id')).toEqual(removed.map((turns) => ({ turns, asked: 0 })))
    connection.close()
  })

  it('keeps its share per day on a nearly full disk', async () => {
    const recorder = await open()
    await writeDays(recorder, daysTo(420))
    const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
    vi.spyOn(Connection.prototype, 'write').mockImplementationOnce(() => {
      throw full
    })
    expect(await recorder.tend()).toMatchObject({ turns: 20 })
  })

  it('is run by one process per day', async () => {
    const [first, second] = [await open(), await open()]
    await writeDays(first, daysTo(400))
    const reports = await Promise.all([first.tend(), second.tend()])
    expect(reports.filter((report) => report !== undefined)).toHaveLength(1)
  })

  it('is due again although it last ran with a clock years ahead', async () => {
    const recorder = await open()
    now += 3000 * DAY
    await recorder.tend()
    now = TODAY
    await writeDays(recorder, daysTo(400))
    expect(await recorder.tend()).toMatchObject({ turns: 20 })
  })

  it('runs between turns if enabled, and reports its removals', async () => {
    const reported = Promise.withResolvers<GcReport>()
    const recorder = await open(reported.resolve)
    await writeDays(recorder, daysTo(400))
    const timeout = sleep(10_000).then(() => undefined)
    expect(await Promise.race([reported.promise, timeout])).toMatchObject({ turns: 20 })
  })

  it('removes nothing by age when the clock is ahead, unless an age is requested', async () => {
    const recorder = await open()
    await writeDays(recorder, daysTo(30))
    now += 730 * DAY
    expect(await recorder.gc()).toMatchObject({ turns: 0 })
    expect(await recorder.gc({ maxAgeMs: 30 * DAY })).toMatchObject({ turns: 31 })
  })
})
