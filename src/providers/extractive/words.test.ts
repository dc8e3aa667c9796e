import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numeral } from './numerals.ts'
import { stem } from './stem.ts'
import { readWords, wordCounter } from './words.ts'

describe('words of a text', () => {
  test.each([
    ['The Mill-pond froze.', ['the', 'mill', 'pond', 'froze']],
    ["Ada's dog, the teachers' room", ['ada', 'dog', 'the', 'teachers', 'room']],
    ['1,600 mm at 24.5 °C by 3:08', ['1,600', 'mm', 'at', '24.5', 'c', 'by', '3:08']],
    ['in the 1980s, on the 19th', ['in', 'the', '1980s', 'on', 'the', '19th']],
    ['U.S. troops left', ['us', 'troops', 'left']],
    ['C++, C# and F# at AT&T; C &c, a & b', ['c++', 'c#', 'and', 'f#', 'at', 'at&t', 'c', 'c', 'a', 'b']],
    ['Café Zürich', ['cafe', 'zurich']],
    ['東京都です', ['東京', '京都', '都で', 'です']],
    ['水', ['水']],
    ['مرحبا بالعالم', ['مرحبا', 'بالعالم']],
    ['', []],
    ['🙂 – …', []],
  ])('%j are %j', (text, words) => {
    expect(readWords(text).map((word) => word.lower)).toEqual(words)
  })

  test('are the same in ASCII alone and beside other characters', () => {
    const pieces = fc.constantFrom(
      'a',
      'B',
      '9',
      '.',
      ',',
      ':',
      "'",
      's',
      'th',
      ' ',
      'U.S.',
      '1,6',
      '3:08',
      '19th',
      "don't",
      '_',
      '-',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ unit: 'grapheme-ascii' }))), (texts) => {
        const text = texts.join('')
        expect(readWords(text)).toEqual(readWords(`${text} –`))
      }),
    )
  })

  test('keep their places and how they are written', () => {
    const text = 'In 1874 NASA rose.'
    expect(
      readWords(text).map(({ start, end, capital, upper, numeric }) => [text.slice(start, end), capital, upper, numeric]),
    ).toEqual([
      ['In', true, false, false],
      ['1874', false, false, true],
      ['NASA', true, true, false],
      ['rose', false, false, false],
    ])
  })
})

describe('one form for all forms of a word', () => {
  test.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['plastered', 'plaster'],
    ['hopping', 'hop'],
    ['relational', 'relat'],
    ['adjustment', 'adjust'],
    ['controlling', 'control'],
    ['sky', 'sky'],
    ['wrote', 'write'],
    ['men', 'man'],
    ['größe', 'größe'],
  ])('%s is %s', (word, expected) => {
    expect(stem(word)).toBe(expected)
  })
})

test.each([
  ['two', '2'],
  ['Third', '3rd'],
  ['forty', '40'],
  ['1,600', '1600'],
  ['XXIII', '23'],
  ['ii', '2'],
  ['LI', '51'],
  ['li', undefined],
  ['I', undefined],
  ['mix', undefined],
])('the numeral %s is %s', (run, expected) => {
  expect(numeral(run, run.toLowerCase())).toBe(expected)
})

test.each([
  ['one two  three', 0, 14, 3],
  ['one two three', 4, 7, 1],
  ['one two three', 5, 13, 2],
  ['one two three', 3, 4, 0],
  ['漢字かな交じり文', 0, 8, 4],
  ['a – b', 0, 5, 3],
  ['', 0, 0, 0],
])('%j from %d to %d is %d words long', (text, start, end, expected) => {
  expect(wordCounter(text)(start, end)).toBe(expected)
})

test('plain text is counted as what stands between white space', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      expect(wordCounter(text)(0, text.length)).toBe(text.match(/\S+/g)?.length ?? 0)
    }),
  )
})
