/** What everything that keeps answers has to do. */

import { expect } from 'vitest'
import type { CacheStore } from '../../src/core/cache.ts'
import type { Runner } from '../../src/testing/recorder-suite.ts'

export interface CacheUnderTest {
  readonly store: CacheStore
  close(): void | Promise<void>
}

const KEEP = { now: 0, until: 10, max: 2 }

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
      expect([await store.get('k', 9), await store.get('other', 0)]).toEqual([text, undefined])
    })

    test('keeps the newest text of a key', async (store) => {
      await store.set('k', 'old', KEEP)
      await store.set('k', 'new', KEEP)
      expect(await store.get('k', 0)).toBe('new')
    })

    test('forgets the least recently used first', async (store) => {
      await store.set('a', '1', KEEP)
      await store.set('b', '2', KEEP)
      await store.get('a', 0)
      await store.set('c', '3', KEEP)
      const left = []
      for (const key of ['a', 'b', 'c']) left.push(await store.get(key, 0))
      expect(left).toEqual(['1', undefined, '3'])
    })

    test('what is too old is not there, and takes nobody’s place', async (store) => {
      await store.set('old', '1', { ...KEEP, until: 5 })
      await store.set('a', '2', KEEP)
      expect(await store.get('old', 5)).toBeUndefined()
      await store.set('b', '3', { ...KEEP, now: 5 })
      expect([await store.get('a', 5), await store.get('b', 5), await store.get('a', 10)]).toEqual(['2', '3', undefined])
    })

    test('can be emptied', async (store) => {
      await store.set('k', 'text', KEEP)
      await store.clear()
      expect(await store.get('k', 0)).toBeUndefined()
    })
  })
}
