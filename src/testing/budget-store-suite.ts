/** What every keeper of budgets has to do. */

import assert from 'node:assert/strict'
import type { Amount, BudgetKey, BudgetStore, SharedUse } from '../core/budget.ts'
import { NOTHING } from '../core/budget.ts'
import type { Runner } from './claims.ts'

/** One empty store of budgets. */
export interface BudgetUnderTest {
  /** The store. */
  readonly store: BudgetStore
  /** Opens a turn where the store wants one. */
  turn(turnId: string, sessionId: string, marks?: Pick<BudgetKey, 'userId' | 'tags'>): void | Promise<void>
  /** Called after each test. */
  close(): void | Promise<void>
}

const DAY = '2026-01-31'

function key(turnId: string, more: Partial<BudgetKey> = {}): BudgetKey {
  return { turnId, sessionId: 'session', day: DAY, ...more }
}

const amount = (tokens: number): Amount => ({ tokens, costUsd: tokens / 1000 })

/** @param users whether users and tags are counted as well. */
export function budgetStoreSuite(
  name: string,
  create: () => BudgetUnderTest | Promise<BudgetUnderTest>,
  { describe, it }: Runner,
  users: boolean = true,
): void {
  const test = (title: string, run: (bench: BudgetUnderTest) => Promise<void>): void => {
    it(title, async () => {
      const bench = await create()
      try {
        await run(bench)
      } finally {
        await bench.close()
      }
    })
  }
  /** What a turn would see that reserves nothing. */
  const seen = async ({ store }: BudgetUnderTest, of: BudgetKey): Promise<SharedUse> => {
    let use: SharedUse | undefined
    await store.reserve(of, (used) => {
      use = used
      return { most: NOTHING, least: NOTHING }
    })
    await store.settle(of, NOTHING)
    if (use === undefined) throw new Error('The plan was not asked.')
    return use
  }
  const reserve = async ({ store }: BudgetUnderTest, of: BudgetKey, tokens: number): Promise<void> => {
    await store.reserve(of, () => ({ most: amount(tokens), least: amount(1) }))
  }

  describe(name, () => {
    test('nothing is used at first', async (bench) => {
      await bench.turn('a', 'session')
      const nothing = { settled: NOTHING, reserved: NOTHING }
      assert.deepEqual(await seen(bench, key('a')), { session: nothing, day: nothing })
    })

    test('what is set aside counts for the others, until what was used takes its place', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      const [a, b] = [key('a', { sessionId: 'a' }), key('b', { sessionId: 'b' })]
      await reserve(bench, a, 500)
      assert.deepEqual(await seen(bench, b), {
        session: { settled: NOTHING, reserved: NOTHING },
        day: { settled: NOTHING, reserved: amount(500) },
      })
      await bench.store.settle(a, amount(120))
      assert.deepEqual((await seen(bench, b)).day, { settled: amount(120), reserved: NOTHING })
      assert.deepEqual((await seen(bench, a)).session, { settled: amount(120), reserved: NOTHING })
    })

    test('a turn has one reservation: a second takes the place of the first', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      await reserve(bench, key('a', { sessionId: 'a' }), 500)
      await reserve(bench, key('a', { sessionId: 'a' }), 300)
      assert.deepEqual((await seen(bench, key('b', { sessionId: 'b' }))).day.reserved, amount(300))
    })

    test('a plan that throws sets nothing aside, and what it throws is passed on', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      const refusal = new Error('no')
      const refused = async (): Promise<void> => {
        await bench.store.reserve(key('a', { sessionId: 'a' }), () => {
          throw refusal
        })
      }
      await assert.rejects(refused, /no/)
      assert.deepEqual((await seen(bench, key('b', { sessionId: 'b' }))).day.reserved, NOTHING)
    })

    test('days and sessions are counted apart', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      await bench.store.settle(key('a', { sessionId: 'a' }), amount(7))
      const tomorrow = await seen(bench, key('b', { sessionId: 'b', day: '2026-02-01' }))
      assert.deepEqual([tomorrow.day.settled, tomorrow.session.settled], [NOTHING, NOTHING])
    })

    if (users)
      test('users and tags are counted by day, over all of their sessions', async (bench) => {
        const ada = { userId: 'ada', tags: ['beta', 'red'] }
        const bob = { userId: 'bob', tags: ['beta'] }
        await bench.turn('a', 'a', ada)
        await bench.turn('b', 'b', bob)
        await bench.turn('c', 'c', ada)
        const [a, b, c] = [
          key('a', { sessionId: 'a', ...ada }),
          key('b', { sessionId: 'b', ...bob }),
          key('c', { sessionId: 'c', ...ada }),
        ]
        await reserve(bench, a, 500)
        await bench.store.settle(a, amount(120))
        await reserve(bench, a, 40)
        await reserve(bench, b, 7)
        const used = await seen(bench, c)
        assert.deepEqual(used.user, { settled: amount(120), reserved: amount(40) })
        assert.deepEqual(used.tags, {
          beta: { settled: amount(120), reserved: amount(47) },
          red: { settled: amount(120), reserved: amount(40) },
        })
        const tomorrow = await seen(bench, { ...c, day: '2026-02-01' })
        assert.deepEqual([tomorrow.user?.settled, tomorrow.tags?.['beta']?.reserved], [NOTHING, NOTHING])
      })

    test('requests add up', async (bench) => {
      await bench.turn('a', 'session')
      for (let round = 0; round < 3; round++) {
        await reserve(bench, key('a'), 100)
        await bench.store.settle(key('a'), { tokens: 10, costUsd: 0.25 })
      }
      assert.deepEqual((await seen(bench, key('a'))).session.settled, { tokens: 30, costUsd: 0.75 })
    })
  })
}
