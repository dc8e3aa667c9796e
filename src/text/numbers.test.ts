import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agree, readDates } from './dates.ts'
import type { Language } from './function-words.ts'
import { languageOf } from './function-words.ts'
import { readQuantities } from './numbers.ts'
import { isEqual } from './same-amount.ts'

/** Numbers with their units and rates, as `text=value unit/rate`. */
function read(text: string, language: Language = languageOf(text)): string[] {
  return readQuantities(text, language).quantities.map(({ start, end, values, unit, rate, form }) => {
    const measure = `${unit === undefined ? '' : ` ${unit.name}`}${rate === undefined ? '' : `/${rate.name}`}`
    return `${text.slice(start, end)}=${values.join('|')}${measure}${form === 'ordinal' ? ' ordinal' : ''}`
  })
}

describe('readQuantities', () => {
  test.each<[Language, string, string[]]>([
    ['en', 'about 17.79 million people, 27 % of all', ['17.79 million=17790000', '27=27 percent']],
    ['en', 'twenty-one days and five hundred and two nights', ['twenty-one=21 day', 'five hundred and two=502']],
    ['en', 'a six-week cycle, 5–10 years, 1,234.5 km', ['six=6 week', '5=5 year', '10=10 year', '1,234.5=1234.5 kilometre']],
    ['en', '2.4 million cells are made per second', ['2.4 million=2400000/second']],
    [
      'en',
      '128MiB, 100kb, 2.1x, $30, £79.50, 20 °C',
      ['128=128 mebibyte', '100=100 kilobyte', '2.1=2.1 times', '30=30 dollar', '79.50=79.5 pound sterling', '20=20 celsius'],
    ],
    ['en', 'the 11th, the third and the 1970s', ['11=11 ordinal', 'third=3 ordinal', '1970=1970']],
    ['en', 'MPEG-4, X.25, SHA256, PDP-11 and version 1.2.3 have none', []],
    ['en', '1. The first\n2. The 2nd', ['first=1 ordinal', '2=2 ordinal']],
    ['en', 'one in five of them, 2 of 3', []],
    [
      'de',
      'dreiundzwanzigtausend Kanäle, 30 Mio. GBP, 1.600 mm',
      ['dreiundzwanzigtausend=23000', '30 Mio=30000000 pound sterling', '1.600=1600|1.6 millimetre'],
    ],
    [
      'es',
      'treinta mil, 70 000, entre cinco y diez años, 300 por ciento',
      ['treinta mil=30000', '70 000=70000', 'cinco=5 year', 'diez=10 year', '300=300 percent'],
    ],
    ['fr', 'quatre-vingts francs et dix-sept sous', ['quatre-vingts=80', 'dix-sept=17']],
    ['ru', 'двадцать пять лет, 17 патентов', ['двадцать пять=25 year', '17=17']],
    ['ar', 'خلال الخمسين عامًا', ['الخمسين=50 year']],
    [
      'zh',
      '687和760nm，两百三十，约12%，1969年',
      ['687=687 nanometre', '760=760 nanometre', '两百三十=230', '12=12 percent', '1969=1969'],
    ],
    ['th', 'ห้าล้านคน และ 17.79 ล้านคน สามารถ', ['ห้าล้าน=5000000', '17.79 ล้าน=17790000']],
  ])('%s: %s', (language, text, expected) => {
    expect(read(text, language)).toEqual(expected)
  })

  const separated = (value: number, separator: string): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, separator)

  test('whole numbers are the same with every separator of thousands', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 999_999_999 }),
        fc.constantFrom(',', '.', ' ', '\u00a0', '\u202f', "'", '’'),
        (value, separator) => {
          const [first] = readQuantities(`It has ${separated(value, separator)} rows.`, 'en').quantities
          expect(first?.values).toContain(value)
        },
      ),
    )
  })

  const ONES =
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
      ' ',
    )
  const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
  const inWords = (value: number): string => {
    if (value < 20) return ONES[value] ?? ''
    if (value < 100) return `${TENS[Math.floor(value / 10) - 2]}${value % 10 === 0 ? '' : `-${ONES[value % 10]}`}`
    if (value < 1000) return `${ONES[Math.floor(value / 100)]} hundred${value % 100 === 0 ? '' : ` and ${inWords(value % 100)}`}`
    return `${inWords(Math.floor(value / 1000))} thousand${value % 1000 === 0 ? '' : ` ${inWords(value % 1000)}`}`
  }

  test('a number in words is the number in digits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), (value) => {
        const found = readQuantities(`It has ${inWords(value)} rows.`, 'en').quantities
        expect(found.map(({ values }) => values)).toEqual([[value]])
      }),
    )
  })

  test('never throws, and returns ranges within the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.constantFrom<Language>('en', 'de', 'es', 'ru', 'zh', 'ar', 'th'),
        (text, language) => {
          for (const { start, end } of readQuantities(text, language).quantities)
            expect(start >= 0 && end > start && end <= text.length).toBe(true)
        },
      ),
    )
  })
})

describe('isEqual', () => {
  const equalBothWays = (text: string): boolean[] => {
    const [one, other] = readQuantities(text, 'en').quantities
    if (one === undefined || other === undefined) throw new Error(`Two quantities are expected in ${text}.`)
    return [isEqual(one, other), isEqual(other, one)]
  }

  test.each([
    '17.79 million and 17,786,419',
    '60 seconds and one minute',
    '100 KiB and 102400 bytes',
    '2.4 million and 2,400,000',
    'five centuries and 500 years',
    '1600 mm and 1.6 m',
  ])('%s are equal', (text) => {
    expect(equalBothWays(text)).toEqual([true, true])
  })

  test.each(['60 and 40', '1600 mm and 1.435 m', '50,000 and 500,000', 'the third and three', '1999 and 2000'])(
    '%s differ',
    (text) => {
      expect(equalBothWays(text)).toEqual([false, false])
    },
  )
})

describe('readDates', () => {
  test.each([
    ['8 October 2015', { day: 8, month: 10, year: 2015 }],
    ['September 12, 2011', { day: 12, month: 9, year: 2011 }],
    ['am 8. Februar 2007', { day: 8, month: 2, year: 2007 }],
    ['El 6 de octubre de 1973', { day: 6, month: 10, year: 1973 }],
    ['7 января 1943 года', { day: 7, month: 1, year: 1943 }],
    ['8 أكتوبر 2015', { day: 8, month: 10, year: 2015 }],
    ['1971年12月8日', { day: 8, month: 12, year: 1971 }],
    ['2020-02-29', { day: 29, month: 2, year: 2020 }],
    ['29/2/2020', { day: 29, month: 2, year: 2020 }],
    ['in October 2018', { month: 10, year: 2018 }],
  ])('%s', (text, expected) => {
    expect(readDates(text)).toMatchObject([expected])
  })

  const isAgreed = (one: string, other: string): boolean => {
    const [a, b] = [readDates(one)[0], readDates(other)[0]]
    if (a === undefined || b === undefined) throw new Error('Both are dates.')
    return agree(a, b)
  }

  test.each([
    ['6/10/1973', '6 October 1973'],
    ['6/10/1973', '10 June 1973'],
    ['October 2018', '3 October 2018'],
    ['May 2013', 'May'],
  ])('%s and %s agree', (one, other) => {
    expect(isAgreed(one, other)).toBe(true)
  })

  test.each([
    ['6/10/1973', '7 October 1973'],
    ['October 2018', 'Oktober 2016'],
  ])('%s and %s do not agree', (one, other) => {
    expect(isAgreed(one, other)).toBe(false)
  })
})
