import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backgroundOf, best, blend, smooth, standOut } from './blend.ts'
import { countPairs, inverseFrequency, occurrenceWeight, pairsOf, RANKING } from './score.ts'
import { chunkTest } from './filter.ts'
import { gramsOf, gramWeight, similarity } from './spelling.ts'

describe('BM25', () => {
  it('equals the published formula', () => {
    expect(inverseFrequency(100, 0)).toBeCloseTo(Math.log(202))
    expect(inverseFrequency(100, 100)).toBeCloseTo(Math.log(1 + 0.5 / 100.5))
    expect(occurrenceWeight(1, 80, 80)).toBeCloseTo(1)
    expect(occurrenceWeight(3, 40, 80)).toBeCloseTo((3 * 2.2) / (3 + 1.2 * (0.25 + 0.75 * 0.5)))
  })

  it('is higher for rarer words, more occurrences and shorter chunks, within bounds', () => {
    const size = fc.integer({ min: 1, max: 100_000 })
    fc.assert(
      fc.property(size, size, size, (count, length, average) => {
        const weight = occurrenceWeight(count, length, average)
        expect(weight).toBeGreaterThan(0)
        expect(weight).toBeLessThanOrEqual(RANKING.saturation + 1)
        expect(occurrenceWeight(count + 1, length, average)).toBeGreaterThanOrEqual(weight)
        expect(occurrenceWeight(count, length + 1, average)).toBeLessThanOrEqual(weight)
        expect(inverseFrequency(length, count)).toBeGreaterThanOrEqual(0)
        expect(inverseFrequency(length, count + 1)).toBeLessThanOrEqual(inverseFrequency(length, count))
      }),
    )
  })
})

describe('best', () => {
  it('equals the start of the sorted list', () => {
    const score = fc.integer({ min: 0, max: 5 })
    fc.assert(
      fc.property(fc.array(fc.tuple(score, fc.nat(3)), { maxLength: 400 }), fc.nat(60), (chunks, limit) => {
        const scores = Float64Array.from(chunks, ([value]) => value)
        const keys = Uint32Array.from(chunks, ([, key]) => key)
        const order = (a: number, b: number): number =>
          (scores[b] ?? 0) - (scores[a] ?? 0) || (keys[a] ?? 0) - (keys[b] ?? 0) || a - b
        const all = [...scores.keys()].filter((id) => (scores[id] ?? 0) > 0).sort(order)
        expect(best({ scores, keys }, limit)).toEqual(all.slice(0, limit))
        const some = all.filter((id) => id % 2 === 0)
        expect(best({ scores, keys }, limit, some.toReversed())).toEqual(some.slice(0, limit))
      }),
    )
  })
})

describe('similarity', () => {
  /** Similarity with equal weights for all grams. */
  const alike = (word: string, other: string): number => {
    const grams = gramsOf(word)
    const common = gramsOf(other).filter((gram) => grams.includes(gram))
    const weight = gramWeight(1000, 10)
    return similarity({ count: grams.length, weight: weight * grams.length }, gramsOf(other).length, {
      count: common.length,
      weight: weight * common.length,
    })
  }

  it.each([
    ['carcinogen', 'carcinogen', 1],
    ['carcinogen', 'carcinogenesi', 8 / Math.sqrt(8 * 11)],
    ['dateisystem', 'dateisystemen', 9 / Math.sqrt(9 * 11)],
    ['quercitin', 'quercetin', 3 / 7],
    ['river', 'stone', 0],
  ])('of %s and %s is %f', (word, other, expected) => {
    expect(alike(word, other)).toBeCloseTo(expected, 10)
  })

  it.each(['2008', 'x86', 'v1.2.3', 'it', '東京', 'ภาษา', '서울'])('is not computed for %s', (term) => {
    expect(gramsOf(term)).toEqual([])
  })
})

describe('phrases', () => {
  it('are pairs of different adjacent words, each once', () => {
    expect(pairsOf([1, 2, 2, 3, 1, 2])).toEqual([
      [1, 2],
      [2, 3],
      [3, 1],
    ])
    expect(pairsOf([1])).toEqual([])
  })

  it('are counted where they are adjacent in order', () => {
    const pairs = [
      [1, 2],
      [2, 1],
      [1, 3],
    ] as const
    expect(countPairs([1, 2, 1, 2, 0, 1, 0, 3, 1], pairs)).toEqual([2, 1, 0])
    expect(countPairs([], pairs)).toEqual([0, 0, 0])
  })
})

describe('smooth', () => {
  const scores = new Map([
    [1, 10],
    [2, 4],
    [3, 0],
  ])
  const score = (id: number): number => scores.get(id) ?? 0
  const lent = (1 - RANKING.neighbours.own) / RANKING.neighbours.own

  it('adds the mean of the neighbours, weighted by similarity', () => {
    const smoothed = smooth(
      new Map([
        [
          1,
          [
            { id: 2, similarity: 0.6 },
            { id: 3, similarity: 0.2 },
          ],
        ],
        [2, []],
      ]),
      score,
      1000,
    )
    expect(smoothed.get(1)).toBeCloseTo(10 + (lent * 0.6 * 4) / 0.8)
    expect(smoothed.get(2)).toBe(4)
    expect(smoothed.get(3)).toBeCloseTo(lent * 10)
  })

  it('adds chunks without a query word only if they are similar and the store is not small', () => {
    const neighbours = (similarity: number): Map<number, { id: number; similarity: number }[]> =>
      new Map([[1, [{ id: 3, similarity }]]])
    expect(smooth(neighbours(0.2), score, 1000).has(3)).toBe(true)
    expect(smooth(neighbours(0.1), score, 1000).has(3)).toBe(false)
    expect(smooth(neighbours(0.2), score, 99).has(3)).toBe(false)
  })
})

describe('chunkTest', () => {
  it('refuses an invalid filter, as custom stores must', () => {
    for (const filter of [null, 'a', { year: {} }]) expect(() => chunkTest(filter as never)).toThrow(/filter/)
  })

  const chunk = { source: 's', title: 't', metadata: { year: 1874, tags: ['a', 'b'], none: null } }
  it.each<[filter: Parameters<typeof chunkTest>[0], matches: boolean]>([
    [{}, true],
    [{ source: 's', title: 't' }, true],
    [{ source: ['r', 's'] }, true],
    [{ source: [] }, false],
    [{ year: 1874 }, true],
    [{ year: '1874' }, false],
    [{ year: [1, 1874], tags: 'b' }, true],
    [{ tags: 'c' }, false],
    [{ none: null, missing: null }, true],
    [{ constructor: 'x' }, false],
    [{ constructor: null }, true],
  ])('%j: %s', (filter, matches) => {
    expect(chunkTest(filter)(chunk)).toBe(matches)
  })
})

describe('blend', () => {
  it.each([
    ['a usual cosine', 0.2, 0],
    ['a cosine likely by chance', 0.3, 0],
    ['an outlier', 0.8, 0.83],
    ['the opposite', -0.5, 0],
  ])('a cosine counts by its distance from the mean: %s', (_, cosine, expected) => {
    expect(standOut(cosine, { chunks: 1000, mean: 0.2, deviation: 0.1 })).toBeCloseTo(expected, 2)
  })

  it('is independent of the scale of a model', () => {
    const cosines = [0.1, 0.3, 0.2, 0.9, 0.15, 0.25]
    const narrow = cosines.map((cosine) => 0.7 + cosine / 5)
    const shares = [cosines, narrow].map((all) => all.map((cosine) => standOut(cosine, backgroundOf(all, 100))))
    shares[0]?.forEach((share, at) => expect(shares[1]?.[at]).toBeCloseTo(share, 3))
  })

  it('does not depend on the order of the chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1 }), (cosines) => {
        expect(
          backgroundOf(
            cosines.toSorted((a, b) => a - b),
            50,
          ),
        ).toEqual(backgroundOf(cosines, 50))
      }),
    )
  })

  it('returns all similar chunks of a small store, and no others', () => {
    const background = backgroundOf([0.6, 0.6, 0.6, 0], 4)
    expect(standOut(0.6, background)).toBeGreaterThan(0)
    expect(standOut(0.1, background)).toBe(0)
    expect(standOut(0, background)).toBe(0)
    expect(standOut(0.6, backgroundOf([0.6], 1))).toBeGreaterThan(0)
  })

  it('weights words by their coverage of the question', () => {
    expect(blend(1, 0, 0)).toBe(0)
    expect(blend(1, 1, 0)).toBeGreaterThan(blend(1, 0.2, 1))
  })
})
