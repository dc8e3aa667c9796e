/** Tests the behaviour that every budget store and every cache store must have. */

import assert from 'node:assert/strict'
import type { Amount, BudgetKey, BudgetStore, SharedUse } from '../core/budget.ts'
import { NOTHING } from '../core/budget.ts'
import type { CacheStore } from '../core/storage.ts'
import { testsOn } from './claims.ts'
import type { Runner } from './claims.ts'

/** An empty budget store. */
export interface BudgetUnderTest {
  /** The store. */
  readonly store: BudgetStore
  /** Opens a turn, for a store that needs an open turn. */
  turn(turnId: string, sessionId: string, marks?: Pick<BudgetKey, 'userId' | 'tags'>): void | Promise<void>
  /** Called after each test. */
  close(): void | Promise<void>
}

const DAY = '2026-01-31'
const NOTHING_USED = { settled: NOTHING, reserved: NOTHING }

const amount = (tokens: number): Amount => ({ tokens, costUsd: tokens / 1000 })

/** Opens a turn in a session of its own. */
async function turnIn(bench: BudgetUnderTest, id: string, marks: Pick<BudgetKey, 'userId' | 'tags'> = {}): Promise<BudgetKey> {
  await bench.turn(id, id, marks)
  return { turnId: id, sessionId: id, day: DAY, ...marks }
}

/** Returns the use visible to a turn without a reservation. */
async function seen({ store }: BudgetUnderTest, key: BudgetKey): Promise<SharedUse> {
  let use: SharedUse | undefined
  await store.reserve(key, (used) => {
    use = used
    return { most: NOTHING, least: NOTHING }
  })
  await store.settle(key, NOTHING)
  if (use === undefined) throw new Error('The plan was not called.')
  return use
}

async function reserve({ store }: BudgetUnderTest, key: BudgetKey, tokens: number): Promise<void> {
  await store.reserve(key, () => ({ most: amount(tokens), least: amount(1) }))
}

/** @param users also tests counts for users and tags; default true. */
export function budgetStoreSuite(
  name: string,
  create: () => BudgetUnderTest | Promise<BudgetUnderTest>,
  { describe, it }: Runner,
  users: boolean = true,
): void {
  const test = testsOn(create, it)

  describe(name, () => {
    test('nothing is used at first', async (bench) => {
      assert.deepEqual(await seen(bench, await turnIn(bench, 'a')), { session: NOTHING_USED, day: NOTHING_USED })
    })

    test('a reservation counts for other turns until the actual use replaces it', async (bench) => {
      const [a, b] = [await turnIn(bench, 'a'), await turnIn(bench, 'b')]
      await reserve(bench, a, 500)
      const use = { session: NOTHING_USED, day: { settled: NOTHING, reserved: amount(500) } }
      assert.deepEqual(await seen(bench, b), use)
      await bench.store.settle(a, amount(120))
      assert.deepEqual((await seen(bench, b)).day, { settled: amount(120), reserved: NOTHING })
      assert.deepEqual((await seen(bench, a)).session, { settled: amount(120), reserved: NOTHING })
    })

    test('a second reservation of a turn replaces the first', async (bench) => {
      const [a, b] = [await turnIn(bench, 'a'), await turnIn(bench, 'b')]
      await reserve(bench, a, 500)
      await reserve(bench, a, 300)
      assert.deepEqual((await seen(bench, b)).day.reserved, amount(300))
    })

    test('a plan that throws reserves nothing, and its error is rethrown', async (bench) => {
      const [a, b] = [await turnIn(bench, 'a'), await turnIn(bench, 'b')]
      const refused = async (): Promise<void> => {
        await bench.store.reserve(a, () => {
          throw new Error('no')
        })
      }
      await assert.rejects(refused, /no/)
      assert.deepEqual((await seen(bench, b)).day.reserved, NOTHING)
    })

    test('days and sessions are counted separately', async (bench) => {
      const [a, b] = [await turnIn(bench, 'a'), await turnIn(bench, 'b')]
      await bench.store.settle(a, amount(7))
      const tomorrow = await seen(bench, { ...b, day: '2026-02-01' })
      assert.deepEqual([tomorrow.day.settled, tomorrow.session.settled], [NOTHING, NOTHING])
    })

    if (users)
      test('users and tags are counted by day, over all of their sessions', async (bench) => {
        const ada = { userId: 'ada', tags: ['beta', 'red'] }
        const [a, b] = [await turnIn(bench, 'a', ada), await turnIn(bench, 'b', { userId: 'bob', tags: ['beta'] })]
        const c = await turnIn(bench, 'c', ada)
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
      const key = await turnIn(bench, 'a')
      for (let round = 0; round < 3; round++) {
        await reserve(bench, key, 100)
        await bench.store.settle(key, { tokens: 10, costUsd: 0.25 })
      }
      assert.deepEqual((await seen(bench, key)).session.settled, { tokens: 30, costUsd: 0.75 })
    })
  })
}

/** An empty cache store. */
export interface CacheUnderTest {
  /** The store. */
  readonly store: CacheStore
  /** Called after each test. */
  close(): void | Promise<void>
}

const KEEP = { now: 0, until: 10, max: 2 }

/** Defines the tests that every `CacheStore` must pass. */
export function cacheStoreSuite(
  name: string,
  create: () => CacheUnderTest | Promise<CacheUnderTest>,
  { describe, it }: Runner,
): void {
  const onBench = testsOn(create, it)
  const test = (title: string, run: (store: CacheStore) => Promise<void>): void =>
    onBench(`ENG-CACHE-001 ${title}`, ({ store }) => run(store))

  describe(name, () => {
    test('returns any text unchanged', async (store) => {
      const text = 'a\u0000b \u{1F999} "\n'
      await store.set('k', text, KEEP)
      assert.deepEqual([await store.get('k', 9), await store.get('other', 0)], [text, undefined])
    })

    test('keeps the latest text of a key', async (store) => {
      await store.set('k', 'old', KEEP)
      await store.set('k', 'new', KEEP)
      assert.equal(await store.get('k', 0), 'new')
    })

    test('removes the least recently used text first', async (store) => {
      await store.set('a', '1', KEEP)
      await store.set('b', '2', KEEP)
      await store.get('a', 0)
      await store.set('c', '3', KEEP)
      const left = []
      for (const key of ['a', 'b', 'c']) left.push(await store.get(key, 0))
      assert.deepEqual(left, ['1', undefined, '3'])
    })

    test('an expired text is not returned, and does not displace others', async (store) => {
      await store.set('old', '1', { ...KEEP, until: 5 })
      await store.set('a', '2', KEEP)
      assert.equal(await store.get('old', 5), undefined)
      await store.set('b', '3', { ...KEEP, now: 5 })
      assert.deepEqual([await store.get('a', 5), await store.get('b', 5), await store.get('a', 10)], ['2', '3', undefined])
    })

    test('can be emptied', async (store) => {
      await store.set('k', 'text', KEEP)
      await store.clear()
      assert.equal(await store.get('k', 0), undefined)
    })
  })
}
