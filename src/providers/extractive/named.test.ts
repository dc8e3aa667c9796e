import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinNames, spellingOf, spellLike } from './named.ts'
import { readWords } from './words.ts'

const asked = (text: string): string[] => joinNames(text, readWords(text)).map(({ stem }) => stem)

test.each([
  ['K3', ['k3']],
  ['pay-104', ['pay104']],
  ['the river-map library', ['the', 'rivermap', 'librari']],
  ['config.json', ['configjson']],
  ['mid-1990s', ['mid', '1990s']],
  ['a built-in model', ['a', 'build', 'in', 'model']],
  ['two-thirds', ['2', 'third']],
  ['a 3-year plan', ['a', '3', 'year', 'plan']],
])('%j is asked for as %j', (text, expected) => {
  expect(asked(text)).toEqual(expected)
})

test.each([
  ['river-map', 'a river map', ['a', 'rivermap']],
  ['river-map', 'RiverMap and river_map', ['rivermap', 'and', 'rivermap']],
  ['rivermap', 'the river-map', ['the', 'rivermap']],
  ['rivermap', 'the river map', ['the', 'river', 'map']],
  ['F-16', 'F16, F 16 and F-16', ['f16', 'f16', 'and', 'f16']],
  ['F 16', 'F-16', ['f', '16']],
  ['K3', 'K2', ['k2']],
])('asked for %j, %j is read as %j', (question, text, expected) => {
  const spelling = spellingOf(joinNames(question, readWords(question)))
  expect(spellLike(spelling, text, readWords(text)).map(({ stem }) => stem)).toEqual(expected)
})

test('words stay in order and within the text, whatever is asked', () => {
  const piece = fc.constantFrom('river', 'map', 'K', '3', '-', '_', '.', ' ', 'PAY', 'é', '地図', '\n')
  const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, text, (question, passage) => {
      const spelling = spellingOf(joinNames(question, readWords(question)))
      let last = 0
      for (const { start, end } of spellLike(spelling, passage, readWords(passage))) {
        expect(start).toBeGreaterThanOrEqual(last === 0 ? 0 : last - 1)
        expect(end).toBeGreaterThan(start)
        last = end
      }
      expect(last).toBeLessThanOrEqual(passage.length)
    }),
  )
})
