import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePartialJson } from './partial-json.ts'

describe('parsePartialJson', () => {
  it.each([
    ['', undefined],
    ['{', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":1', { a: 1 }],
    ['{"a":"b', { a: 'b' }],
    ['{"a":"b\\', { a: 'b' }],
    ['{"a":"b\\u00e', { a: 'b' }],
    ['{"a":[1,{"b":"c"', { a: [1, { b: 'c' }] }],
    ['{"a":[1,', { a: [1] }],
    ['{"a":tr', {}],
    ['{"a":1,"b":fal', { a: 1 }],
    ['{"a":-', {}],
    ['nonsense', undefined],
  ])('reads %j', (text, expected) => {
    expect(parsePartialJson(text)).toEqual(expected)
  })

  it('never throws, and returns the value itself when the text is complete', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value)
        parsePartialJson(text.slice(0, cut % (text.length + 1)))
        expect(JSON.stringify(parsePartialJson(text))).toBe(text)
      }),
    )
  })
})
