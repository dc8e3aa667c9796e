import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  exactText,
  onlyStyles,
  visibleText,
  visibleLine,
  visibleStream,
  wholeCharacters,
  withoutControlReferences,
} from './terminal.ts'
import type { TextStream } from './terminal.ts'

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/

const ATTACKS: readonly (readonly [what: string, text: string])[] = [
  ['OSC 52, the clipboard', '\u001B]52;c;ZXZpbA==\u0007'],
  ['OSC 8, a link', '\u001B]8;;http://evil.example\u001B\\click\u001B]8;;\u001B\\'],
  ['OSC 0, the title', '\u001B]0;title\u0007'],
  ['an unterminated OSC', '\u001B]0;for ever'],
  ['CSI 2J, clear the screen', '\u001B[2J\u001B[H'],
  ['CSI, conceal', '\u001B[8mhidden\u001B[0m'],
  ['DCS', '\u001BP+q544e\u001B\\'],
  ['APC', '\u001B_Gf=100;AAAA\u001B\\'],
  ['RIS', '\u001Bc'],
  ['8-bit CSI', '\u009B2J'],
  ['8-bit OSC', '\u009D52;c;ZXZpbA==\u009C'],
  ['8-bit DCS', '\u0090q\u009C'],
  ['a line that overwrites itself', 'rm -rf /\rls      '],
  ['backspaces', 'evil\b\b\b\bgood'],
  ['a right-to-left override', 'file\u202Efdp.exe'],
  ['isolates', '\u2066x\u2069'],
  ['a bell', '\u0007'],
]

function through(stream: TextStream, pieces: readonly string[]): string {
  return pieces.map((piece) => stream.push(piece)).join('') + stream.finish()
}

describe('escape codes', () => {
  test.each(ATTACKS)('%s does not reach the terminal', (_what, text) => {
    expect(visibleText(text)).not.toMatch(CONTROL)
    expect(visibleText(text)).not.toBe('')
  })

  test.each(ATTACKS)('%s does not reach it when every character is a separate delta', (_what, text) => {
    expect(
      through(
        visibleStream(),
        [...text].flatMap((character) => character.split('')),
      ),
    ).toBe(visibleText(text))
  })

  test('no text keeps terminal commands, and cuts do not change the result', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...ATTACKS.map(([, text]) => text), '\r', '\n', '\r\n', '\uD83D', '\uDE00', '&#27;'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const result = through(visibleStream(), pieces)
        expect(result).not.toMatch(CONTROL)
        expect(result).toBe(visibleText(pieces.join('')))
      }),
    )
  })

  test('no surrogate pair is split', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, raw) => {
        const stream = raw ? wholeCharacters() : visibleStream()
        const written = text.split('').map((unit) => stream.push(unit))
        for (const part of [...written, stream.finish()]) expect(part.isWellFormed()).toBe(true)
        expect(through(wholeCharacters(), text.split(''))).toBe(text)
      }),
    )
  })

  test('raw text is only regrouped, lone surrogates too', () => {
    expect(through(wholeCharacters(), ['a\uD83D', '\uDE00b', '\uD83D'])).toBe('a\uD83D\uDE00b\uD83D')
  })

  test('zero-width characters, marks of direction and tags are spelled out, also in JSON', () => {
    expect(visibleText('a\u200bb\u200ec\u2060d\ufeffe\u00adf')).toBe('a<U+200B>b<U+200E>c<U+2060>d<U+FEFF>e<U+00AD>f')
    expect(visibleText('\u{e0041}x\u{e007f}\u{e0101}')).toBe('<U+E0041>x<U+E007F><U+E0101>')
    expect(visibleText('a\u2028b')).toBe('a<U+2028>b')
  })

  test('other languages and emoji stay as they are', () => {
    const text = 'مرحبا עברית 👩‍👩‍👧 ❤️ naïve\ttab\nline'
    expect(visibleText(text)).toBe(text)
  })

  test('`visibleLine` returns a single line', () => {
    expect(visibleLine('a\nb\tc\r\nd')).toBe('a␊b c␊d')
  })

  test('colours of a renderer stay, other control characters do not', () => {
    expect(onlyStyles('\u001B[1;31mred\u001B[0m\u001B[2J\u001B]0;x\u0007')).toBe('\u001B[1;31mred\u001B[0m␛[2J␛]0;x␇')
  })

  test('character references cannot restore control characters', () => {
    expect(withoutControlReferences('&#27;[2J &#x1b;c &#X9B;2J &#x202e; &#155; &amp; &#65; &#x1F600; &#0;')).toBe(
      '␛[2J ␛c <U+009B>2J <U+202E> <U+009B> &amp; &#65; &#x1F600; ␀',
    )
  })
})

describe('exactText', () => {
  test.each([
    ['zero-width characters', 'rm\u200B -rf\u2060', 'rm<U+200B> -rf<U+2060>'],
    ['tags, which hide a text', 'a\u{E0041}', 'a<U+E0041>'],
    ['unusual spaces', 'a\u00A0b\u3000c', 'a<U+00A0>b<U+3000>c'],
    ['unusual line ends', 'a\u2028b', 'a<U+2028>b'],
    ['control characters', 'a\u001B[2J\u202Eb', 'a␛[2J<U+202E>b'],
    ['words of any language', 'naïve 日本 😀', 'naïve 日本 😀'],
  ])('%s', (_what, text, shown) => {
    expect(exactText(text)).toBe(shown)
  })
})
