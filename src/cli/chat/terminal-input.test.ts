import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeKeys, isUnmarkedPaste } from './terminal-input.ts'
import type { Key } from './terminal-input.ts'

const name = (key: Key): string => (key.type === 'key' ? key.name : `${key.type}:${key.text}`)
const names = (input: string, final = true): string[] => decodeKeys(input, final).keys.map(name)

describe('keys', () => {
  test.each([
    ['letters', 'abc', ['text:abc']],
    ['characters beyond ASCII', 'é😀', ['text:é😀']],
    ['Enter', '\r', ['enter']],
    ['Ctrl-J', '\n', ['ctrl-j']],
    ['Tab', '\t', ['tab']],
    ['Backspace of two kinds', '\u007F\b', ['backspace', 'backspace']],
    ['Ctrl and a letter', '\u0003\u0004\u0017', ['ctrl-c', 'ctrl-d', 'ctrl-w']],
    ['arrows', '\u001B[A\u001B[B\u001B[C\u001B[D', ['up', 'down', 'right', 'left']],
    ['arrows of the application mode', '\u001BOA\u001BOH', ['up', 'home']],
    ['Ctrl and an arrow', '\u001B[1;5D', ['ctrl-left']],
    ['Home, End and Delete by number', '\u001B[1~\u001B[4~\u001B[3~', ['home', 'end', 'delete']],
    ['Shift-Tab', '\u001B[Z', ['backtab']],
    ['Alt and a letter', '\u001Bb', ['alt-b']],
    ['Alt-Enter', '\u001B\r', ['alt-enter']],
    ['Alt-Backspace', '\u001B\u007F', ['alt-backspace']],
    ['Shift-Enter of kitty', '\u001B[13;2u', ['shift-enter']],
    ['Shift-Enter of xterm', '\u001B[27;2;13~', ['shift-enter']],
    ['Ctrl-C of kitty', '\u001B[99;5u', ['ctrl-c']],
    ['Escape alone', '\u001B', ['escape']],
    ['Escape twice', '\u001B\u001B', ['escape', 'escape']],
    ['a paste, whatever line ends it has', '\u001B[200~a\r\nb\rc\u001B[201~', ['paste:a\nb\nc']],
    ['escape codes in a paste', '\u001B[200~\u001B[A\u0003\u001B[201~x', ['paste:\u001B[A\u0003', 'text:x']],
    ['a focus event, which means nothing', '\u001B[Ix', ['text:x']],
    ['a mouse event, which means nothing', '\u001B[<0;1;1Mx', ['text:x']],
  ])('%s', (_what, input, expected) => {
    expect(names(input)).toEqual(expected)
  })

  test('an incomplete key waits for the rest', () => {
    for (const rest of ['\u001B', '\u001B[', '\u001B[1;', '\u001BO', '\u001B[200~half']) {
      expect(decodeKeys(`a${rest}`)).toEqual({ keys: [{ type: 'text', text: 'a' }], rest })
    }
  })

  test('the keys do not depend on how the input is cut', () => {
    const pieces = fc.array(
      fc.constantFrom(
        'a',
        'é',
        '\r',
        '\u001B[A',
        '\u001B[1;5D',
        '\u001BOH',
        '\u001B[200~x\ny\u001B[201~',
        '\u0003',
        '\u001B[13;2u',
        '\u001Bb',
      ),
    )
    fc.assert(
      fc.property(pieces, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (pieces, cuts) => {
        const input = pieces.join('')
        let rest = ''
        const keys: Key[] = []
        for (let at = 0; at < input.length;) {
          const length = cuts[at % cuts.length] ?? 1
          const decoded = decodeKeys(rest + input.slice(at, at + length))
          keys.push(...decoded.keys)
          rest = decoded.rest
          at += length
        }
        keys.push(...decodeKeys(rest, true).keys)
        const joined = (all: readonly Key[]): string =>
          all.reduce((sum, key) => (key.type === 'text' ? sum + key.text : `${sum}<${name(key)}>`), '')
        expect(joined(keys)).toBe(joined(decodeKeys(input, true).keys))
      }),
    )
  })
})

describe('at a terminal without bracketed paste', () => {
  const PASTED = {
    'two lines': 'one\rtwo',
    'two lines with tabs, and a final line end': '\tone\r\n\ttwo\r\n',
    'a path after a line, which is not a command': 'look at\r/etc/hosts\r',
  }
  test.each(Object.entries(PASTED))('%s are pasted', (_, piece) => {
    expect(isUnmarkedPaste(piece)).toBe(true)
  })

  const TYPED = {
    'a line and Enter': 'one\r',
    'Enter held down': '\r\r\r',
    'a line end after a backslash': 'one\\\rtwo\r',
    'an arrow key before lines': '\u001B[Aone\rtwo',
    'lines of a program that drives the chat': 'Then count them.\r/steer Only the red ones.\r',
  }
  test.each(Object.entries(TYPED))('%s are typed', (_, piece) => {
    expect(isUnmarkedPaste(piece)).toBe(false)
  })
})
