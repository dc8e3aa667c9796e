import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventBody } from '../../core/event.ts'
import { closeOf, entriesOf, openOf, stamper, STARTED_AT } from '../../testing/turns.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { mountSmall } from '../../../test/support/small-disk.ts'
import { openFile } from '../../util/sqlite/open-file.ts'
import { JOURNAL } from './journal.ts'
import type { Journal } from './journal.ts'
import { thisOwner } from './lease.ts'
import { createReader } from './read.ts'
import { SqliteRecorder } from './recorder.ts'
import { closeTurn, openTurn, record } from './turn.ts'

const CANCELLED: EventBody = { type: 'cancelled', reason: 'Enough.' }

const home = journalFolder()

describe('a full disk', () => {
  it('makes writes fail, keeps stored data, and allows writes once there is space again', async ({ skip }) => {
    const place = join(home.folder, 'small')
    if (!mountSmall(place))
      skip('mounting a small file system is not permitted here; the test of a full file below stands in for it')
    try {
      const path = join(place, 'cria.db')
      const ballast = join(place, 'ballast')
      writeFileSync(ballast, Buffer.alloc(300_000))
      const recorder = await SqliteRecorder.open({ path })
      const open = openOf('turn_a')
      const at = stamper(open)
      await recorder.openTurn(open)
      const written = [at(0, { type: 'start', model: 'm' })]
      await recorder.record('turn_a', entriesOf(written))
      let refused = at(1, { type: 'text_delta', text: 'x'.repeat(20_000), attempt: 1 })
      const write = async (): Promise<void> => {
        for (;;) {
          await recorder.record('turn_a', entriesOf([refused]))
          written.push(refused)
          refused = at(1, { type: 'text_delta', text: 'x'.repeat(20_000), attempt: 1 })
        }
      }
      await expect(write()).rejects.toMatchObject({ code: 'journal_failed', cause: expect.anything() as unknown })
      expect(recorder.read.events('turn_a')).toEqual(written)

      rmSync(ballast)
      await recorder.record('turn_a', entriesOf([refused]))
      written.push(refused)
      const end = at(1, CANCELLED)
      await recorder.closeTurn('turn_a', closeOf(end))
      await recorder.close()
      const again = await SqliteRecorder.open({ path })
      expect(again.read.events('turn_a')).toEqual([...written, end])
      await again.close()
    } finally {
      execFileSync('umount', ['-l', place])
    }
  })

  it('leaves no partial journal behind', async ({ skip }) => {
    const place = join(home.folder, 'small')
    if (!mountSmall(place)) skip('mounting a small file system is not permitted here')
    try {
      writeFileSync(join(place, 'ballast'), Buffer.alloc(1_000_000))
      await expect(SqliteRecorder.open({ path: join(place, 'cria.db') })).rejects.toMatchObject({ code: 'journal_failed' })
      rmSync(join(place, 'ballast'))
      const recorder = await SqliteRecorder.open({ path: join(place, 'cria.db') })
      await recorder.openTurn(openOf('turn_a'))
      await recorder.close()
    } finally {
      execFileSync('umount', ['-l', place])
    }
  })
})

describe('a journal that cannot grow', () => {
  let journal: Journal
  let now: number

  beforeEach(() => {
    now = STARTED_AT
    const connection = openFile(JOURNAL, { path: home.path, readOnly: false, synchronous: 'normal' })
    journal = {
      connection,
      now: () => now,
      owner: { ...thisOwner(), started: '' },
      holder: 'test',
      leaseMs: 1000,
      open: new Map(),
      spans: [],
    }
  })

  afterEach(() => {
    journal.connection.close()
  })

  const limitPages = (pages: number): void => {
    journal.connection.get(`PRAGMA max_page_count = ${pages}`)
  }
  const failsAsFull = (work: () => void): void => {
    expect(work).toThrow(
      expect.objectContaining({ code: 'journal_failed', message: expect.stringContaining('full') as unknown }) as Error,
    )
  }

  it('keeps its data, refuses writes, and accepts them once there is space', () => {
    const open = openOf('turn_a')
    const at = stamper(open)
    const [start, text, end] = [
      at(0, { type: 'start', model: 'm' }),
      at(1, { type: 'text_delta', text: 'x'.repeat(1e6), attempt: 1 }),
      at(1, CANCELLED),
    ]
    openTurn(journal, open)
    record(journal, 'turn_a', entriesOf([start]))
    limitPages(60)
    failsAsFull(() => record(journal, 'turn_a', entriesOf([text])))
    failsAsFull(() => closeTurn(journal, 'turn_a', closeOf({ ...end, seq: 1 }, { text: 'y'.repeat(1e6) })))
    failsAsFull(() => openTurn(journal, openOf('turn_b', { sessionId: 'other', question: 'z'.repeat(1e6) })))
    const reader = createReader(journal)
    expect(reader.events('turn_a')).toEqual([start])
    expect(reader.turn('turn_b')).toBeUndefined()
    limitPages(1e6)
    record(journal, 'turn_a', entriesOf([text]))
    closeTurn(journal, 'turn_a', closeOf(end))
    expect(reader.events('turn_a')).toEqual([start, text, end])
    expect(journal.connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  it('can be read, and reports a lost turn when it can be written again', () => {
    openTurn(journal, openOf('turn_a', { question: 'q'.repeat(10_000) }))
    limitPages(1)
    now += 1001
    const reader = createReader(journal)
    expect(reader.turns().turns.map(({ status }) => status)).toEqual(['open'])
    expect(reader.events('turn_a')).toEqual([])
    limitPages(1e6)
    expect(reader.turns().turns.map(({ status }) => status)).toEqual(['lost'])
  })

  it('gives up a turn whose writes fail, so that its session can continue', () => {
    openTurn(journal, openOf('turn_a'))
    limitPages(60)
    const text = stamper(openOf('turn_a'))(0, { type: 'text_delta', text: 'x'.repeat(1e6), attempt: 1 })
    failsAsFull(() => record(journal, 'turn_a', entriesOf([text])))
    limitPages(1e6)
    expect(() => openTurn(journal, openOf('turn_b'))).not.toThrow()
    expect(createReader(journal).turn('turn_a')?.turn.status).toBe('lost')
    expect(() => record(journal, 'turn_a', entriesOf([text]))).toThrow(expect.objectContaining({ code: 'turn_lost' }) as Error)
  })
})

describe('a lease', () => {
  it('is renewed while a turn is silent, and does not keep the process alive', async () => {
    vi.useFakeTimers()
    const options = { path: home.path, leaseMs: 3000 }
    const [owner, other] = [await SqliteRecorder.open(options), await SqliteRecorder.open(options)]
    await owner.openTurn(openOf('turn_a'))
    for (let n = 0; n < 10; n++) {
      vi.advanceTimersByTime(2000)
      expect(other.sweep()).toBe(0)
    }
    await owner.closeTurn('turn_a', closeOf(stamper(openOf('turn_a'))(0, CANCELLED)))
    vi.advanceTimersByTime(2000)
    expect(vi.getTimerCount()).toBe(0)
    await owner.close()
    await other.close()
    vi.useRealTimers()
  })
})

describe('a loss of power', () => {
  it('at any moment leaves an intact journal, in the state of an earlier moment', async () => {
    const { path } = home
    const turns = 40
    const recorder = await SqliteRecorder.open({ path })
    for (let n = 0; n < turns; n++) {
      const open = openOf(`turn_${n}`, { sessionId: `session_${n}` })
      const at = stamper(open)
      await recorder.openTurn(open)
      await recorder.record(
        open.turnId,
        entriesOf([at(0, { type: 'start', model: 'm' }), at(1, { type: 'text_delta', text: 'x', attempt: 1 })]),
      )
      await recorder.closeTurn(open.turnId, closeOf(at(1, CANCELLED)))
    }
    const log = readFileSync(`${path}-wal`)
    const wholeTurns = (name: string, lost: Buffer): number => {
      const copy = join(home.folder, name)
      copyFileSync(path, copy)
      writeFileSync(`${copy}-wal`, lost)
      const connection = openFile(JOURNAL, { path: copy, readOnly: false, synchronous: 'normal' })
      const counts = connection.all<{ n: number }>(
        `SELECT count(*) AS n FROM events JOIN turns ON turns.id = turn WHERE state <> 'open' GROUP BY turn`,
      )
      expect(connection.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      expect(counts.every(({ n }) => n === 3)).toBe(true)
      connection.close()
      return counts.length
    }
    // Unsynced data is lost: the end of the log, or a block in its middle.
    let before = 0
    for (let share = 0; share <= 1; share += 1 / 32) {
      const cut = Math.round(log.length * share)
      const kept = wholeTurns(`cut-${cut}.db`, log.subarray(0, cut))
      expect(kept).toBeGreaterThanOrEqual(before)
      expect(
        wholeTurns(`hole-${cut}.db`, Buffer.from(log).fill(0, cut, Math.min(cut + 4096, log.length))),
      ).toBeGreaterThanOrEqual(kept - 1)
      before = kept
    }
    expect(before).toBe(turns)
    await recorder.close()
  })
})
