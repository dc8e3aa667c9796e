import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stopwatch } from '../../../test/support/stopwatch.ts'
import { readUnits } from './sentences.ts'

const unitsOf = (text: string): string[] => readUnits(text).map(({ start, end }) => text.slice(start, end))

describe('sentences', () => {
  test.each<[string, string[]]>([
    ['It rained. We stayed.', ['It rained.', 'We stayed.']],
    ['Dr. Marsh met Mr. Oak. They spoke.', ['Dr. Marsh met Mr. Oak.', 'They spoke.']],
    ['J. R. Oak wrote it. It sold.', ['J. R. Oak wrote it.', 'It sold.']],
    ['He moved to the U.S. The move was costly.', ['He moved to the U.S.', 'The move was costly.']],
    ['The U.S. Senate met.', ['The U.S. Senate met.']],
    ['It grew by 3.5 percent. Then it fell.', ['It grew by 3.5 percent.', 'Then it fell.']],
    [
      'He lived there (d. 1902. Buried in Ghent) for long. She left.',
      ['He lived there (d. 1902. Buried in Ghent) for long.', 'She left.'],
    ],
    ['“Where is it?” he asked. Nobody knew.', ['“Where is it?” he asked.', 'Nobody knew.']],
    ['She said "It is late." Then she left.', ['She said "It is late."', 'Then she left.']],
    ['Yahoo! is a firm. It is old!', ['Yahoo! is a firm.', 'It is old!']],
    ['Wait... what? Oh.', ['Wait... what?', 'Oh.']],
    ['See Fig. 3 for more. It helps.', ['See Fig. 3 for more.', 'It helps.']],
    ['It sells tea, coffee, etc. The shop is small.', ['It sells tea, coffee, etc.', 'The shop is small.']],
    ['Marsh Inc. Holdings grew.', ['Marsh Inc. Holdings grew.']],
    ['東京は首都です。人口は多い。', ['東京は首都です。', '人口は多い。']],
    ['هل وصلت؟ نعم وصلت.', ['هل وصلت؟', 'نعم وصلت.']],
    ['no full stop at the end', ['no full stop at the end']],
  ])('%j', (text, expected) => {
    expect(unitsOf(text)).toEqual(expected)
  })

  test('a wrapped line goes on, a short one before a capital does not', () => {
    expect(unitsOf('The long line of a paragraph that was wrapped by hand\ngoes on here. End.')).toEqual([
      'The long line of a paragraph that was wrapped by hand\ngoes on here.',
      'End.',
    ])
    expect(unitsOf('Gull Light\nIt was built in 1874.')).toEqual(['Gull Light', 'It was built in 1874.'])
  })

  test('footnote marks are left out, and part what stands around them', () => {
    const text = 'It was built in 1874.[3] It is white.[12, 13] It stands,[4] still.'
    expect(unitsOf(text)).toEqual(['It was built in 1874.', 'It is white.', 'It stands,', 'still.'])
    expect(new Set(readUnits(text).map(({ block }) => block)).size).toBe(4)
  })
})

test('headings, list items, table rows and code are units of their kind', () => {
  const text =
    '# Title\n\nSome prose. More.\n\n- first item\n- second item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet a = 1\nlet b. c\n```\n'
  expect(readUnits(text).map(({ start, end, kind }) => [kind, text.slice(start, end)])).toEqual([
    ['heading', 'Title'],
    ['sentence', 'Some prose.'],
    ['sentence', 'More.'],
    ['item', 'first item'],
    ['item', 'second item'],
    ['columns', 'a'],
    ['columns', 'b'],
    ['row', '1'],
    ['row', '2'],
    ['code', 'let a = 1'],
    ['code', 'let b. c'],
  ])
})

test('units lie in order, do not overlap, and hold every letter and digit that is not markup', () => {
  const piece = fc.constantFrom(
    'A cat sat. ',
    'Dr. ',
    '3.14 ',
    '\n',
    '\n\n',
    '(',
    ') ',
    '“',
    '”',
    'no. 5 ',
    'x',
    '。',
    '! ',
    'e.g. ',
    '漢字',
    ', ',
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
      (text) => {
        let last = 0
        let held = ''
        for (const { start, end } of readUnits(text)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          last = end
          held += text.slice(start, end)
        }
        const letters = (value: string): string => value.replaceAll(/[^\p{L}\p{N}]/gu, '')
        expect(letters(held)).toBe(letters(text))
      },
    ),
  )
})

test('a line of a megabyte is read in one pass', () => {
  const elapsed = stopwatch()
  expect(readUnits('word (and. so. on '.repeat(60_000)).length).toBeGreaterThan(0)
  expect(readUnits('a'.repeat(1_000_000))).toHaveLength(1)
  expect(elapsed()).toBeLessThan(5000)
})
