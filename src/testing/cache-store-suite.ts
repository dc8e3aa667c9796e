/** What everything that keeps answers has to do. */

import assert from 'node:assert/strict'
import type { CacheStore } from '../core/cache.ts'
import type { Runner } from './claims.ts'

/** One empty store of answers. */
export interface CacheUnderTest {
  /** The store. */
  readonly store: CacheStore
  /** Called after each test. */
  close(): void | Promise<void>
}

const KEEP = { now: 0, until: 10, max: 2 }

/** Defines tests that every `CacheStore` has to pass. */
export function cacheStoreSuite(
  name: string,
  create: () => CacheUnderTest | Promise<CacheUnderTest>,
  { describe, it }: Runner,
): void {
  const test = (title: string, run: (store: CacheStore) => Promise<void>): void => {
    it(`ENG-CACHE-001 ${title}`, async () => {
      const bench = await create()
      try {
        await run(bench.store)
      } finally {
        await bench.close()
      }
    })
  }

  describe(name, () => {
    test('gives back what it was given, whatever characters it has', async (store) => {
      const text = 'a\u0000b \u{1F999} "\n'
      await store.set('k', text, KEEP)
      assert.deepEqual([await store.get('k', 9), await store.get('other', 0)], [text, undefined])
    })

    test('keeps the newest text of a key', async (store) => {
      await store.set('k', 'old', KEEP)
      await store.set('k', 'new', KEEP)
      assert.equal(await store.get('k', 0), 'new')
    })

    test('forgets the least recently used first', async (store) => {
      await store.set('a', '1', KEEP)
      await store.set('b', '2', KEEP)
      await store.get('a', 0)
      await store.set('c', '3', KEEP)
      const left = []
      for (const key of ['a', 'b', 'c']) left.push(await store.get(key, 0))
      assert.deepEqual(left, ['1', undefined, '3'])
    })

    test('what is too old is not there, and takes nobody’s place', async (store) => {
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
