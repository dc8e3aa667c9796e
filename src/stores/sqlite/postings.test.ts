import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openStoreFile } from './file.ts'
import { compareKeys, InvertedIndex } from './inverted.ts'
import type { Key } from './inverted.ts'
import { decodeNumbers, encode, encodeNumbers, Postings } from './postings.ts'

const MAX = 2 ** 30

function listed({ ids, counts, size }: Postings): [number, number][] {
  return Array.from({ length: size }, (_, at) => [ids[at] ?? -1, counts[at] ?? -1])
}

describe('postings', () => {
  it('are read as written, several lists into one', () => {
    const list = fc.uniqueArray(fc.tuple(fc.nat(MAX - 1), fc.integer({ min: 1, max: 70_000 })), { selector: ([id]) => id })
    fc.assert(
      fc.property(list, fc.nat(1000), (entries, cut) => {
        const sorted = entries.toSorted(([a], [b]) => a - b)
        const read = new Postings(1)
        for (const part of [sorted.slice(0, cut), sorted.slice(cut)]) {
          const written = new Postings()
          for (const [id, count] of part) written.add(id, count)
          const base = part[0]?.[0] ?? 0
          read.read(base, encode(base, written))
        }
        expect(listed(read)).toEqual(sorted)
      }),
    )
  })

  it('numbers are read as written', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (numbers) => {
        expect(decodeNumbers(encodeNumbers(numbers))).toEqual(numbers)
      }),
    )
  })
})

describe('InvertedIndex', () => {
  it('returns all added ids of each key after any merges, in few blocks', () => {
    const connection = openStoreFile({ path: ':memory:', readOnly: false, synchronous: 'normal' })
    const held = new Map<number, ReadonlySet<Key>>()
    const index = new InvertedIndex(connection, 'grams')
    const listOf = (key: Key): [number, number][] => {
      const list = new Postings()
      index.read([key], list)
      return listed(list)
    }
    const expected = (key: Key): [number, number][] =>
      [...held].filter(([, keys]) => keys.has(key)).map(([id]) => [id, 1 + (id % 4)])
    // Texts are ordered by their bytes: the last of these sorts before the previous one.
    const texts = ['abcd', 'zé', '\u{ffee}x', '\u{1f600}x']
    let next = 1
    for (let round = 0; round < 400; round++) {
      const [first, before] = [next + 1, held.size]
      const lists = new Map<Key, Postings>()
      for (let count = 1 + ((round * 17) % 130); count > 0; count--) {
        next += 1 + (next % 3)
        const keys = new Set<Key>([1, 2 + (next % 7), 10 + (next % 997), texts[next % 4] ?? ''])
        held.set(next, keys)
        for (const key of keys) {
          const list = lists.get(key) ?? new Postings()
          list.add(next, 1 + (next % 4))
          lists.set(key, list)
        }
      }
      index.add(
        first,
        held.size - before,
        [...lists].sort(([a], [b]) => compareKeys(a, b)),
      )
    }
    const keys = [1, 2, 8, 10, 500, 1006, 2000, ...texts]
    for (const key of keys) expect(listOf(key)).toEqual(expected(key))
    const all = new Postings()
    const ranges = index.read([10, 8, 2000, 1006], all)
    for (const key of [10, 8, 2000, 1006]) {
      const { from, to } = ranges.get(key) ?? { from: 0, to: 0 }
      expect(listed(all).slice(from, to)).toEqual(expected(key))
    }
    const blocks = (): number => connection.get<{ n: number }>('SELECT count(*) AS n FROM blocks')?.n ?? 0
    expect(blocks()).toBeLessThan(3 * Math.log(next))
    index.compact(held.size >> 1, (id) => id % 2 === 0)
    for (const id of [...held.keys()].filter((each) => each % 2 === 1)) held.delete(id)
    for (const key of keys) expect(listOf(key)).toEqual(expected(key))
    expect(blocks()).toBe(1)
    connection.close()
  })
})
