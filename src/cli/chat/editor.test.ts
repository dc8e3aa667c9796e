import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { edited, EMPTY_DRAFT, withText } from './editor.ts'
import type { Draft } from './editor.ts'
import type { Key } from './terminal-input.ts'

/** `|` is the cursor. */
function draftOf(text: string): Draft {
  return { ...EMPTY_DRAFT, text: text.replace('|', ''), cursor: text.indexOf('|') }
}

function press(draft: Draft, ...names: readonly string[]): string {
  const { text, cursor } = names.reduce((draft, name) => edited(draft, { type: 'key', name }), draft)
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`
}

describe('the draft', () => {
  test.each([
    ['left over an emoji', 'a👩‍👩‍👧|', ['left'], 'a|👩‍👩‍👧'],
    ['backspace takes a whole character', 'né|', ['backspace'], 'n|'],
    ['words', 'one two|', ['alt-b', 'alt-b'], '|one two'],
    ['words to the right', '|one two', ['ctrl-right'], 'one| two'],
    ['Home and End stay on their line', 'a\nb|c\nd', ['home'], 'a\n|bc\nd'],
    ['End', 'a\n|bc\nd', ['end'], 'a\nbc|\nd'],
    ['Ctrl-U and Ctrl-Y', 'one two|', ['ctrl-u', 'ctrl-y', 'ctrl-y'], 'one twoone two|'],
    ['Ctrl-K at the end of a line joins lines', 'a|\nb', ['ctrl-k'], 'a|b'],
    ['Ctrl-W', 'one two |x', ['ctrl-w'], 'one |x'],
    ['up keeps the column', 'long\nab|c', ['up'], 'lo|ng\nabc'],
    ['down to a shorter line', 'lon|g\na', ['down'], 'long\na|'],
    ['up in the first line stays', 'a|b', ['up'], 'a|b'],
    ['a new line', 'a|b', ['alt-enter'], 'a\n|b'],
    ['nothing to the left', '|a', ['left', 'backspace', 'ctrl-w'], '|a'],
    ['a key without a meaning', 'a|', ['f5'], 'a|'],
  ])('%s', (_what, before, keys, after) => {
    expect(press(draftOf(before), ...keys)).toBe(after)
  })

  test('text is inserted at the cursor, which moves after it', () => {
    const key: Key = { type: 'paste', text: 'x\ny' }
    expect(edited(draftOf('a|b'), key)).toMatchObject({ text: 'ax\nyb', cursor: 4 })
    expect(withText(EMPTY_DRAFT, 'abc').cursor).toBe(3)
  })

  test('the cursor is always within the text and between characters', () => {
    const keys = fc.array(
      fc.oneof(
        fc
          .constantFrom(
            'left',
            'right',
            'up',
            'down',
            'home',
            'end',
            'backspace',
            'delete',
            'ctrl-w',
            'ctrl-k',
            'ctrl-u',
            'ctrl-y',
            'alt-f',
          )
          .map((name): Key => ({ type: 'key', name })),
        fc.string({ unit: 'grapheme', maxLength: 5 }).map((text): Key => ({ type: 'text', text })),
        fc.constantFrom<Key>({ type: 'key', name: 'alt-enter' }),
      ),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(keys, (keys) => {
        const { text, cursor } = keys.reduce((draft, key) => edited(draft, key), EMPTY_DRAFT)
        expect(cursor).toBeGreaterThanOrEqual(0)
        expect(cursor).toBeLessThanOrEqual(text.length)
        expect(text.slice(0, cursor).isWellFormed()).toBe(text.isWellFormed())
      }),
    )
  })
})
