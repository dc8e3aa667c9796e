import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Amount } from '../../core/budget.ts'
import { dayOf, NOTHING } from '../../core/budget.ts'
import { closeOf, entriesOf, EXACT_USAGE, openOf, resultOf, stamper, STARTED_AT } from '../../testing/turns.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { thisOwner } from './lease.ts'
import type { SqliteRecorder } from './recorder.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

const place = journalFolder()
let now: number

beforeEach(() => {
  now = STARTED_AT
})

function open(owner = thisOwner()): Promise<SqliteRecorder> {
  return place.open({ clock: { now: () => now }, leaseMs: 60_000, owner })
}

const DAY = dayOf(STARTED_AT)

/** Returns the use of the day as a new turn sees it. */
async function dayUse(recorder: SqliteRecorder, turnId: string): Promise<{ settled: Amount; reserved: Amount }> {
  await recorder.openTurn(openOf(turnId, { sessionId: turnId }))
  let use = { settled: NOTHING, reserved: NOTHING }
  await recorder.budget.reserve({ turnId, sessionId: turnId, day: DAY }, ({ day }) => {
    use = day
    return { most: NOTHING, least: NOTHING }
  })
  return use
}

async function reserveIn(recorder: SqliteRecorder, turnId: string): Promise<void> {
  await recorder.openTurn(openOf(turnId, { sessionId: turnId }))
  await recorder.budget.reserve({ turnId, sessionId: turnId, day: DAY }, () => ({
    most: { tokens: 900, costUsd: 0.9 },
    least: { tokens: 20, costUsd: 0.02 },
  }))
}

/** Makes the owner of the open turns look dead: no process has this id. */
function killOwner(): void {
  const database = new DatabaseSync(place.path)
  database.exec(`UPDATE leases SET pid = ${2 ** 22 + 1}`)
  database.close()
}

describe('a reservation whose owner has ended', () => {
  test('of a process that has died is released at once; the input of its request counts', async () => {
    await reserveIn(await open(), 'a')
    killOwner()
    expect(await dayUse(await open(), 'b')).toEqual({ settled: { tokens: 20, costUsd: 0.02 }, reserved: NOTHING })
  })

  test('of another machine is released when its lease has run out', async () => {
    const elsewhere = await open({ ...thisOwner(), machine: 'another machine' })
    const here = await open()
    await reserveIn(elsewhere, 'a')
    expect((await dayUse(here, 'b')).reserved).toEqual({ tokens: 900, costUsd: 0.9 })
    now += 60_001
    expect(await dayUse(here, 'c')).toEqual({ settled: { tokens: 20, costUsd: 0.02 }, reserved: NOTHING })
  })

  test('ENG-METRIC-002 statistics and budgets agree after a kill: failed attempts, steps and the request under way', async () => {
    const doomed = await open()
    for (const turnId of ['budgeted', 'free']) {
      const turn = openOf(turnId, { sessionId: turnId })
      const at = stamper(turn)
      await doomed.openTurn(turn)
      const key = { turnId, sessionId: turnId, day: DAY }
      if (turnId === 'budgeted') {
        // A failed attempt, and the attempt that the step reports.
        for (const used of [
          { tokens: 30, costUsd: 0.03 },
          { tokens: 120, costUsd: 0.12 },
        ]) {
          await doomed.budget.reserve(key, () => ({ most: { tokens: 900, costUsd: 0.9 }, least: { tokens: 20, costUsd: 0.02 } }))
          await doomed.budget.settle(key, used)
        }
      }
      const reported = [
        at(0, { type: 'start', model: 'test/model' }),
        at(1, { type: 'usage', usage: EXACT_USAGE, costUsd: 0.12 }),
      ]
      await doomed.record(turnId, entriesOf(reported))
      if (turnId === 'budgeted')
        await doomed.budget.reserve(key, () => ({ most: { tokens: 900, costUsd: 0.9 }, least: { tokens: 20, costUsd: 0.02 } }))
    }
    killOwner()
    const heir = await open()
    const { settled, reserved } = await dayUse(heir, 'b')
    expect(reserved).toEqual(NOTHING)
    expect(settled.tokens).toBe(30 + 120 + 20 + 120)
    expect(settled.costUsd).toBeCloseTo(0.03 + 0.12 + 0.02 + 0.12, 9)
    const [row] = heir.stats()
    expect((row?.inputTokens ?? 0) + (row?.outputTokens ?? 0)).toBe(settled.tokens)
    expect(row?.costUsd).toBeCloseTo(settled.costUsd, 9)
    for (const session of heir.sessionStats()) {
      if (session.sessionId === 'free') expect(session).toMatchObject({ costUsd: 0.12, inputTokens: 100, outputTokens: 20 })
    }
  })

  test('that settles late is still counted', async () => {
    const late = await open()
    await reserveIn(late, 'a')
    killOwner()
    const here = await open()
    await dayUse(here, 'b')
    await late.budget.settle({ turnId: 'a', sessionId: 'a', day: DAY }, { tokens: 100, costUsd: 0.1 })
    expect((await dayUse(here, 'c')).settled.tokens).toBeGreaterThanOrEqual(100)
  })
})

describe('closed turns count', () => {
  const close = async (recorder: SqliteRecorder, turnId: string, costUsd: number | null): Promise<void> => {
    const turn = openOf(turnId, { sessionId: turnId })
    const event = stamper(turn)(1, { type: 'complete', result: resultOf(turn, 'Yes.') })
    await recorder.closeTurn(turnId, closeOf(event, { usage: EXACT_USAGE, costUsd }))
  }
  const tokens = (EXACT_USAGE.inputTokens ?? 0) + (EXACT_USAGE.outputTokens ?? 0)

  test('also without a budget, and with unknown cost', async () => {
    const recorder = await open()
    for (const [turnId, costUsd] of [
      ['a', 0.5],
      ['b', null],
    ] as const) {
      await recorder.openTurn(openOf(turnId, { sessionId: turnId }))
      await close(recorder, turnId, costUsd)
    }
    expect((await dayUse(recorder, 'c')).settled).toEqual({ tokens: 2 * tokens, costUsd: 0.5 })
  })

  test('but not again the requests already counted', async () => {
    const recorder = await open()
    await reserveIn(recorder, 'a')
    await recorder.budget.settle({ turnId: 'a', sessionId: 'a', day: DAY }, { tokens, costUsd: 0.5 })
    await close(recorder, 'a', 0.5)
    expect(await dayUse(recorder, 'b')).toEqual({ settled: { tokens, costUsd: 0.5 }, reserved: NOTHING })
  })

  test('and are removed when no turns of their time remain', async () => {
    const recorder = await open()
    await recorder.openTurn(openOf('a', { sessionId: 'a' }))
    await close(recorder, 'a', 0.5)
    now += 10 * 86_400_000
    await recorder.openTurn(openOf('b', { sessionId: 'b', startedAt: now }))
    await recorder.gc({ maxAgeMs: 86_400_000 })
    const database = new DatabaseSync(place.path, { readOnly: true })
    expect(database.prepare('SELECT name FROM spending').all()).toEqual([])
    database.close()
  })
})

test('the migration of a journal without budgets counts its turns', () => {
  const before = new DatabaseSync(place.path)
  before.exec(MIGRATIONS[0] ?? '')
  before.exec(`PRAGMA user_version = 1; PRAGMA application_id = ${APPLICATION_ID}`)
  before.exec(`INSERT INTO sessions (session_id, created_at) VALUES ('s', 0)`)
  const insert = before.prepare(
    `INSERT INTO turns (turn_id, session_id, exclusive, model, trace_id, span_id, started_at, ended_at, question, input_tokens,
       output_tokens, cost_usd)
     VALUES (?, 's', 1, 'm', 't', 'p', ?, ?, 'q', ?, ?, ?)`,
  )
  insert.run('a', STARTED_AT, STARTED_AT, 10, 5, 0.25)
  insert.run('b', STARTED_AT, STARTED_AT, null, null, null)
  insert.run('c', STARTED_AT + 86_400_000, STARTED_AT + 86_400_000, 1, 1, 0.5)
  before.close()
  return open().then(async (recorder) => {
    expect((await dayUse(recorder, 'd')).settled).toEqual({ tokens: 15, costUsd: 0.25 })
    await recorder.budget.reserve({ turnId: 'd', sessionId: 's', day: DAY }, ({ session }) => {
      expect(session.settled).toEqual({ tokens: 17, costUsd: 0.75 })
      return { most: NOTHING, least: NOTHING }
    })
  })
})
