import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patternFor } from './pattern.ts'

const CHARACTERS = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
  character.isWellFormed(),
)

test.each(['L', 'Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'M', 'N', 'P', 'S', 'Sentence_Terminal', 'Script=Thai', 'Script=Han'])(
  'the class %s matches the same characters in any text',
  (name) => {
    const pattern = patternFor(`[\\p{${name}}]`, 'u')
    const whole = new RegExp(`\\p{${name}}`, 'u')
    expect(CHARACTERS.filter((character) => pattern(character).test(character))).toEqual(
      CHARACTERS.filter((character) => whole.test(character)),
    )
  },
)

test('finds the same matches in Latin text as the full pattern', () => {
  const source = String.raw`(?:[\p{Lu}]\.){2,}|[\p{N}]+|(?:(?![\p{Script=Thai}])[\p{L}\p{M}])+(?:['’][\p{L}]+)*`
  const pattern = patternFor(source, 'gu')
  const whole = new RegExp(source, 'gu')
  const unit = fc.constantFrom('a', 'Z', 'é', 'ÿ', 'ß', '.', '’', "'", '–', '1', ' ', '½', 'µ', '\u2028')
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(text.match(pattern(text))).toEqual(text.match(whole))
    }),
  )
})

test('refuses an unsupported class', () => {
  expect(() => patternFor(String.raw`[\p{Greek}]`, 'u')('a')).toThrow(TypeError)
  expect(() => patternFor(String.raw`[\p{Script=Latin}]`, 'u')('a')).toThrow(TypeError)
})
