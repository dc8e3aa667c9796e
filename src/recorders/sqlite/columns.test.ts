import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wellFormedJson } from './columns.ts'

describe('wellFormedJson', () => {
  it.each<[value: unknown, read: unknown]>([
    ['a\uD800', 'a\uFFFD'],
    ['\uDC00\uD800', '\uFFFD\uFFFD'],
    [{ '\uD800': ['\uDFFF', { x: 1 }] }, { '\uFFFD': ['\uFFFD', { x: 1 }] }],
    ['😀', '😀'],
    [String.raw`\ud800`, String.raw`\ud800`],
    ['\0\u001F\u2028', '\0\u001F\u2028'],
  ])('%j is read as %j', (value, read) => {
    expect(JSON.parse(wellFormedJson(value))).toEqual(read)
  })

  it('makes any value well-formed, and changes nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }), (text) => {
        expect(JSON.parse(wellFormedJson([text, { [text]: null }]))).toEqual([
          text.toWellFormed(),
          { [text.toWellFormed()]: null },
        ])
      }),
    )
  })
})
