/** What every keeper of budgets has to do. */

import { expect } from 'vitest'
import type { Amount, BudgetKey, BudgetStore, SharedUse } from '../../src/core/budget.ts'
import { NOTHING } from '../../src/core/budget.ts'
import type { Runner } from '../../src/testing/recorder-suite.ts'

export interface BudgetUnderTest {
  readonly store: BudgetStore
  /** Opens a turn where the store wants one. */
  turn(turnId: string, sessionId: string, marks?: Pick<BudgetKey, 'userId' | 'tags'>): void | Promise<void>
  close(): void | Promise<void>
}

const DAY = '2026-01-31'

function key(turnId: string, more: Partial<BudgetKey> = {}): BudgetKey {
  return { turnId, sessionId: 'session', day: DAY, ...more }
}

const amount = (tokens: number): Amount => ({ tokens, costUsd: tokens / 1000 })

export function budgetStoreSuite(
  name: string,
  create: () => BudgetUnderTest | Promise<BudgetUnderTest>,
  { describe, it }: Runner,
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
      expect(await seen(bench, key('a'))).toEqual({ session: nothing, day: nothing })
    })

    test('what is set aside counts for the others, until what was used takes its place', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      const [a, b] = [key('a', { sessionId: 'a' }), key('b', { sessionId: 'b' })]
      await reserve(bench, a, 500)
      expect(await seen(bench, b)).toEqual({
        session: { settled: NOTHING, reserved: NOTHING },
        day: { settled: NOTHING, reserved: amount(500) },
      })
      await bench.store.settle(a, amount(120))
      expect((await seen(bench, b)).day).toEqual({ settled: amount(120), reserved: NOTHING })
      expect((await seen(bench, a)).session).toEqual({ settled: amount(120), reserved: NOTHING })
    })

    test('a turn has one reservation: a second takes the place of the first', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      await reserve(bench, key('a', { sessionId: 'a' }), 500)
      await reserve(bench, key('a', { sessionId: 'a' }), 300)
      expect((await seen(bench, key('b', { sessionId: 'b' }))).day.reserved).toEqual(amount(300))
    })

    test('a plan that throws sets nothing aside, and what it throws is passed on', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      const refusal = new Error('no')
      await expect(
        (async () =>
          bench.store.reserve(key('a', { sessionId: 'a' }), () => {
            throw refusal
          }))(),
      ).rejects.toThrow('no')
      expect((await seen(bench, key('b', { sessionId: 'b' }))).day.reserved).toEqual(NOTHING)
    })

    test('days and sessions are counted apart', async (bench) => {
      for (const turn of ['a', 'b']) await bench.turn(turn, turn)
      await bench.store.settle(key('a', { sessionId: 'a' }), amount(7))
      const tomorrow = await seen(bench, key('b', { sessionId: 'b', day: '2026-02-01' }))
      expect([tomorrow.day.settled, tomorrow.session.settled]).toEqual([NOTHING, NOTHING])
    })

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
      expect(used.user).toEqual({ settled: amount(120), reserved: amount(40) })
      expect(used.tags).toEqual({
        beta: { settled: amount(120), reserved: amount(47) },
        red: { settled: amount(120), reserved: amount(40) },
      })
      const tomorrow = await seen(bench, { ...c, day: '2026-02-01' })
      expect([tomorrow.user?.settled, tomorrow.tags?.['beta']?.reserved]).toEqual([NOTHING, NOTHING])
    })

    test('requests add up', async (bench) => {
      await bench.turn('a', 'session')
      for (let round = 0; round < 3; round++) {
        await reserve(bench, key('a'), 100)
        await bench.store.settle(key('a'), { tokens: 10, costUsd: 0.25 })
      }
      expect((await seen(bench, key('a'))).session.settled).toEqual({ tokens: 30, costUsd: 0.75 })
    })
  })
}
