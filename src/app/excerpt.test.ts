import fc from 'fast-check'
import { expect, test } from 'vitest'
import { excerptOf } from './excerpt.ts'

const FILLER = 'Nothing of interest happens in this sentence. '
const shown = (text: string, query: string, length = 60): string => {
  const { start, end } = excerptOf(text, query, length)
  return text.slice(start, end)
}

test.each([
  [
    'a match at the beginning',
    `The mill burnt. ${FILLER}`,
    'mill',
    'The mill burnt. Nothing of interest happens in this sentence',
  ],
  ['a match far behind', `${FILLER.repeat(9)}The mill burnt in May. ${FILLER}`, 'mill', /^The mill burnt in May\. Nothing/],
  ['another form of the word', `${FILLER.repeat(9)}Two mills burnt. ${FILLER}`, 'mill burning', /^Two mills burnt\. /],
  ['most words in one place', `The mill. ${FILLER.repeat(9)}A mill burnt here. ${FILLER}`, 'mill burnt', /^A mill burnt here\. /],
  ['a sentence that is longer', `${'so '.repeat(90)}the mill burnt`, 'burnt mill', /^so so .*the mill burnt$/],
  ['a line of a list', `${'- a thing\n'.repeat(20)}- the mill\n- a thing`, 'mill', /^- the mill\n- a thing$/],
  ['no match', FILLER.repeat(3), 'mill', FILLER.repeat(3).slice(0, 60)],
  ['a query without words', FILLER.repeat(3), '(*"', FILLER.repeat(3).slice(0, 60)],
  ['no text', '', 'mill', ''],
])('the excerpt shows %s', (_, text, query, expected) => {
  expect(shown(text, query)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
})

test('an excerpt lies in its text and is no longer than asked for', () => {
  const words = fc.array(fc.constantFrom('mill', 'burnt', 'the', '. ', '\n', ' ', 'x'.repeat(80), '水车烧毁'), { maxLength: 60 })
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 100 }), (parts, length) => {
      const text = parts.join(' ')
      const { start, end } = excerptOf(text, 'mill burnt 水车', length)
      expect(start).toBeGreaterThanOrEqual(0)
      expect(end).toBeLessThanOrEqual(text.length)
      expect(end - start).toBeLessThanOrEqual(length)
      expect(end).toBeGreaterThanOrEqual(start)
    }),
  )
})
