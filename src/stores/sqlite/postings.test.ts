import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openStoreFile } from './file.ts'
import { InvertedIndex } from './inverted.ts'
import type { Entry, Key } from './inverted.ts'
import { decodeNumbers, encode, encodeNumbers, Postings } from './postings.ts'

const MAX = 2 ** 30

function listed({ ids, counts, size }: Postings): [number, number][] {
  return Array.from({ length: size }, (_, at) => [ids[at] ?? -1, counts[at] ?? -1])
}

describe('postings', () => {
  it('are read as they were written, several lists to one', () => {
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

  it('numbers are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (numbers) => {
        expect(decodeNumbers(encodeNumbers(numbers))).toEqual(numbers)
      }),
    )
  })
})

describe('InvertedIndex', () => {
  it('lists for each key what was added and not removed, whatever was joined, in few rows', () => {
    const connection = openStoreFile({ path: ':memory:', readOnly: false, synchronous: 'normal' })
    const held = new Map<number, Set<Key>>()
    const index = new InvertedIndex(connection, 'postings', function* (first, end) {
      for (const [id, keys] of held) if (id >= first && id < end) yield* keys
    })
    let next = 1
    for (let round = 0; round < 400; round++) {
      const entries: Entry[] = Array.from({ length: 1 + ((round * 17) % 130) }, () => {
        next += 1 + (next % 3)
        const keys = new Set([1, 2 + (next % 7), 10 + (next % 997)])
        held.set(next, keys)
        return [next, new Map([...keys].map((key) => [key, 1 + (next % 4)]))]
      })
      index.add(entries)
      const id = next - (next % 5)
      const gone = round % 3 === 0 ? [id, ...[...held.keys()].filter((each) => each % 97 === round)] : [id]
      const ofKey = new Map<Key, Set<number>>()
      for (const each of gone) {
        for (const key of held.get(each) ?? []) ofKey.set(key, (ofKey.get(key) ?? new Set()).add(each))
        held.delete(each)
      }
      index.remove(ofKey)
    }
    for (const key of [1, 2, 8, 10, 500, 1006, 2000]) {
      const list = new Postings()
      index.read(key, list)
      const expected = [...held].filter(([, keys]) => keys.has(key)).map(([id]) => [id, 1 + (id % 4)])
      expect(listed(list)).toEqual(expected)
    }
    index.forget(500)
    const forgotten = new Postings()
    index.read(500, forgotten)
    expect(listed(forgotten)).toEqual([])
    const all = new Postings()
    const ranges = index.readAll([10, 8, 1006], all)
    for (const key of [10, 8, 1006]) {
      const alone = new Postings()
      index.read(key, alone)
      const { from, to } = ranges.get(key) ?? { from: 0, to: 0 }
      expect(listed(all).slice(from, to)).toEqual(listed(alone))
    }
    const rows = connection.get<{ n: number }>('SELECT count(*) AS n FROM postings WHERE key = 1')?.n ?? 0
    expect(next).toBeGreaterThan(2 * 16_384)
    expect(rows).toBeLessThan(2 + 16_384 / 512 + 512 / 64 + 64)
    connection.close()
  })
})
