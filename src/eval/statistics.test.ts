import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { positionBias } from './preferences.ts'
import { binomialP, holm, pairedTest, studentTail, wilson } from './statistics.ts'

describe('Student’s tail', () => {
  // Tables of the two-sided t distribution.
  it.each([
    [12.706, 1, 0.05],
    [2.228, 10, 0.05],
    [3.169, 10, 0.01],
    [2.042, 30, 0.05],
    [1.984, 100, 0.05],
    [0, 7, 1],
  ])('of %d with %d degrees of freedom is %d', (t, freedom, expected) => {
    expect(studentTail(t, freedom)).toBeCloseTo(expected, 3)
  })
})

describe('a paired test', () => {
  it('finds a real difference', () => {
    const better = pairedTest([0.2, 0.1, 0.3, 0.2, 0.1, 0.2, 0.4, 0.1, 0.2, 0.3])
    expect(better).toMatchObject({ wins: 10, losses: 0, ties: 0 })
    expect(better.difference).toBeCloseTo(0.21, 10)
    expect(better.pRandomization).toBeLessThan(0.01)
    expect(better.pT).toBeLessThan(0.001)
    expect(better.interval[0]).toBeGreaterThan(0.1)
  })

  it('finds no difference between equal systems', () => {
    expect(pairedTest([])).toMatchObject({ difference: 0, pRandomization: 1, pT: 1 })
    expect(pairedTest([0, 0, 0])).toMatchObject({ difference: 0, pRandomization: 1, pT: 1, ties: 3 })
    expect(pairedTest([0.5])).toMatchObject({ pRandomization: 1, pT: 1 })
  })

  it('agrees with the exact result for few questions', () => {
    // 2 of the 2^5 ways to set the signs are as extreme.
    expect(pairedTest([1, 1, 1, 1, 1], 7).pRandomization).toBeCloseTo(2 / 32, 2)
  })

  it('is deterministic, symmetric, and a probability', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 12 }), (values) => {
        const one = pairedTest(values, 3, 500)
        const other = pairedTest(
          values.map((value) => -value),
          3,
          500,
        )
        expect(pairedTest(values, 3, 500)).toEqual(one)
        expect(other.pRandomization).toBe(one.pRandomization)
        expect(other.pT).toBeCloseTo(one.pT, 10)
        for (const value of [one.pT, one.pRandomization]) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('Holm’s correction multiplies the smallest p most and keeps the order', () => {
    const [first, second, third] = holm([0.04, 0.01, 0.03])
    expect(first).toBeCloseTo(0.06, 10)
    expect(second).toBeCloseTo(0.03, 10)
    expect(third).toBeCloseTo(0.06, 10)
  })
})

describe('tests of shares', () => {
  it.each([
    [0, 0, null],
    [0, 10, [0, 0.2775]],
    [5, 10, [0.2366, 0.7634]],
    [9, 10, [0.5958, 0.9821]],
    [81, 263, [0.2553, 0.3662]],
  ])('ENG-FEED-001 Wilson: %i of %i', (successes, trials, expected) => {
    const interval = wilson(successes, trials)
    if (expected === null) expect(interval).toBeNull()
    else for (const [index, bound] of expected.entries()) expect(interval?.[index]).toBeCloseTo(bound, 3)
  })

  it.each([
    [0, 0, 1],
    [5, 10, 1],
    [8, 10, 0.109375],
    [10, 10, 0.001953125],
    [600, 1000, 2.728e-10],
  ])('ENG-FEED-001 binomial: %i of %i', (successes, trials, expected) => {
    expect(binomialP(successes, trials)).toBeCloseTo(expected, 6)
    expect(binomialP(trials - successes, trials)).toBe(binomialP(successes, trials))
    expect(positionBias(successes, trials).p).toBe(binomialP(successes, trials))
  })
})
