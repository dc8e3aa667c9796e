import { describe, expect, test } from 'vitest'
import { porterStem } from './porter.ts'

describe('porterStem', () => {
  test.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['cats', 'cat'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['motoring', 'motor'],
    ['sing', 'sing'],
    ['conflated', 'conflat'],
    ['troubling', 'troubl'],
    ['hopping', 'hop'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['sky', 'sky'],
    ['relational', 'relat'],
    ['vietnamization', 'vietnam'],
    ['hopefulness', 'hope'],
    ['triplicate', 'triplic'],
    ['electrical', 'electr'],
    ['adjustment', 'adjust'],
    ['adoption', 'adopt'],
    ['probate', 'probat'],
    ['rate', 'rate'],
    ['controlling', 'control'],
    ['yes', 'ye'],
    ['μήλα', 'μήλα'],
    ['x86', 'x86'],
    ['is', 'is'],
  ])('%s is stemmed to %s', (word, stemmed) => {
    expect(porterStem(word)).toBe(stemmed)
  })
})
