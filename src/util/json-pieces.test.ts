import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonPieces } from './json-pieces.ts'

describe('jsonPieces', () => {
  it('together equal the result of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withNullPrototype: true }), (value) => {
        let json: string | undefined
        try {
          json = JSON.stringify(value) ?? 'null'
        } catch {
          return
        }
        expect([...jsonPieces(value)].join('')).toBe(json)
      }),
    )
  })

  it('cut a long text between characters', () => {
    const text = `${'x'.repeat(999_999)}😀${'"\n'.repeat(700_000)}`
    const pieces = [...jsonPieces({ text, other: [text, undefined, 1] })]
    expect(pieces.length).toBeGreaterThan(4)
    expect(pieces.join('')).toBe(JSON.stringify({ text, other: [text, undefined, 1] }))
  })
})
