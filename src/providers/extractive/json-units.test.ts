import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJson } from './json-units.ts'
import { readUnits } from './sentences.ts'

test.each([
  ['{ "a": 1 }', true],
  ['[\n  { "a": "b" }', true],
  ['"a": {\n "b": 2 },', true],
  ['}, { "a": 1 }', true],
  ['[link](https://a.example)\n\n```json\n{ "a": 1 }\n```', false],
  ['"Never": that was his answer.', false],
  ['{ a: 1 }', false],
  ['', false],
])('%j is JSON: %j', (text, expected) => {
  expect(isJson(text)).toBe(expected)
})

test('members speak for themselves, under the names above them', () => {
  const text = '{ "a": { "b": 1, "list": [1, 2] }, "c": "x y", "all": [{ "d": 1 }, { "d": { "e": 2 } }] }'
  expect(readUnits(text).map(({ start, end, kind }) => [kind, text.slice(start, end)])).toEqual([
    ['heading', 'a'],
    ['code', '"b": 1'],
    ['code', '"list": [1, 2]'],
    ['code', '"c": "x y"'],
    ['heading', 'all'],
    ['code', '{ "d": 1 }'],
    ['heading', 'd'],
    ['code', '"e": 2'],
  ])
})

test('whatever follows, units stand in order and do not overlap', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b c"',
    '1',
    'null',
    '"',
    '\\',
    '\n',
    ' ',
    'x'.repeat(400),
    `"${'y. Y'.repeat(100)}"`,
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = `{ "k": 1, ${pieces.join('')}`
      let before = 0
      for (const { start, end } of readUnits(text)) {
        expect(start).toBeGreaterThanOrEqual(before)
        expect(end).toBeGreaterThan(start)
        before = end
      }
    }),
    // A name that is empty, of a long value.
    { examples: [[['"', '"', ':', 'x'.repeat(400)]]] },
  )
})
