import fc from 'fast-check'
import { expect, test } from 'vitest'
import { longestWord, padStyled, wrapStyled } from './tables.ts'
import { widthOf } from '../../util/cells.ts'

const bold = (text: string): string => `\u001B[1m${text}\u001B[22m`
const RESET = '\u001B[0m'

test.each([
  ['', 10, ['']],
  ['one two three', 7, ['one two', 'three']],
  ['a-very-long-word is', 6, ['a-very-long-word', 'is']],
  ['東京都は日本の首都。', 8, ['東京都は', '日本の首', '都。']],
  ['四つの字。', 8, ['四つの', '字。']],
  ['tea 茶 🍵🍵🍵', 8, ['tea 茶', '🍵🍵🍵']],
  [`plain ${bold('bold words')} end`, 11, [`plain \u001B[1mbold${RESET}`, `\u001B[1mwords\u001B[22m end`]],
  [bold('trailing '), 8, [bold('trailing')]],
  [
    `\u001B[31m\u001B[1mred\u001B[22m still\u001B[39m`,
    4,
    [`\u001B[31m\u001B[1mred\u001B[22m${RESET}`, `\u001B[31mstill\u001B[39m`],
  ],
] as const)('%j in %i cells', (text, columns, lines) => {
  expect(wrapStyled(text, columns)).toEqual(lines)
})

test('the longest word is what cannot be parted', () => {
  expect([longestWord(''), longestWord('a bcd 東京'), longestWord(bold('five! x'))]).toEqual([0, 3, 5])
})

test('padding counts cells, and no styles', () => {
  expect(padStyled(bold('東'), 5, 'center')).toBe(` ${bold('東')}  `)
  expect(padStyled('ab', 1, 'right')).toBe('ab')
})

test('nothing is lost, no line is too long, and each ends its styles', () => {
  const word = fc.oneof(fc.stringMatching(/^[a-z]{1,6}$/), fc.constantFrom('茶', '東京', '🍵', 'e\u0301', '👩‍👩‍👧'))
  const piece = fc.oneof(word, word.map(bold), fc.constant('\u001B[36mx y\u001B[39m'))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 6, max: 40 }), (pieces, columns) => {
      const text = pieces.join(' ')
      const lines = wrapStyled(text, columns)
      // eslint-disable-next-line no-control-regex
      const plain = (styled: string): string => styled.replaceAll(/\u001B\[[\d;]*m|\s/g, '')
      expect(plain(lines.join(''))).toBe(plain(text))
      for (const line of lines) {
        expect(widthOf(line)).toBeLessThanOrEqual(columns)
        const begun = line.includes('\u001B[1m')
        expect(!begun || line.includes('\u001B[22m') || line.endsWith(RESET)).toBe(true)
      }
    }),
  )
})

test('a style that is opened again is carried to the next line once', () => {
  const lines = wrapStyled('\u001B[1maa '.repeat(2000), 2)
  expect(lines).toHaveLength(2000)
  expect(lines.at(-1)).toBe('\u001B[1m\u001B[1maa\u001B[0m')
})
