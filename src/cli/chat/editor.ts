/** Applies keys to the text of a message, and to a question at the bottom of the screen. */

import { graphemes } from '../../util/cells.ts'
import type { Choice } from './front.ts'
import type { Key } from './terminal-input.ts'

export interface Draft {
  readonly text: string
  /** Offset in UTF-16 units, never inside a character. */
  readonly cursor: number
  /** The text that was cut last. */
  readonly killed: string
}

export const EMPTY_DRAFT: Draft = { text: '', cursor: 0, killed: '' }

/** Returns the draft with another text, and the cursor at its end. */
export function withText(draft: Draft, text: string): Draft {
  return { ...draft, text, cursor: text.length }
}

export function insert(draft: Draft, text: string): Draft {
  return { ...draft, text: before(draft) + text + after(draft), cursor: draft.cursor + text.length }
}

/** Applies a key; a key without a meaning leaves the draft unchanged. */
export function edited(draft: Draft, key: Key): Draft {
  if (key.type !== 'key') return insert(draft, key.text)
  return EDITS.get(key.name)?.(draft) ?? draft
}

/** Moves the cursor one line up or down; `undefined` when there is no such line. */
export function vertical(draft: Draft, by: -1 | 1): Draft | undefined {
  const { text } = draft
  const start = lineStart(draft)
  const column = graphemes(text.slice(start, draft.cursor)).length
  const target = by === -1 ? start - 1 : lineEnd(draft) + 1
  if (target < 0 || target > text.length) return undefined
  const from = lineStart({ ...draft, cursor: target })
  const line = text.slice(from, lineEnd({ ...draft, cursor: target }))
  return { ...draft, cursor: from + graphemes(line).slice(0, column).join('').length }
}

type Edit = (draft: Draft) => Draft
/** Returns the new offset of the cursor. */
type Move = (draft: Draft) => number

/** UTF-16 units around the cursor that are searched for a character, because a draft may be long. */
const NEAR = 64

const before = ({ text, cursor }: Draft): string => text.slice(0, cursor)
const after = ({ text, cursor }: Draft): string => text.slice(cursor)

const left: Move = (draft) => draft.cursor - (graphemes(before(draft).slice(-NEAR)).at(-1)?.length ?? 0)
const right: Move = (draft) => draft.cursor + (graphemes(after(draft).slice(0, NEAR))[0]?.length ?? 0)
const wordLeft: Move = (draft) => /[\p{L}\p{N}_]+[^\p{L}\p{N}_]*$/u.exec(before(draft))?.index ?? 0
const wordRight: Move = (draft) => {
  const [passed = after(draft)] = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]+/u.exec(after(draft)) ?? []
  return draft.cursor + passed.length
}
const lineStart: Move = (draft) => before(draft).lastIndexOf('\n') + 1
const lineEnd: Move = ({ text, cursor }) => {
  const end = text.indexOf('\n', cursor)
  return end === -1 ? text.length : end
}
/** Moves to the end of the line; from there past the line feed. */
const restOfLine: Move = (draft) => (lineEnd(draft) === draft.cursor ? right(draft) : lineEnd(draft))

const go = (move: Move): Edit => {
  return (draft) => ({ ...draft, cursor: move(draft) })
}

/** Cuts the text between the cursor and its place after `move`. @param keep whether Ctrl-Y can insert the text again. */
const cut = (move: Move, keep = true): Edit => {
  return (draft) => {
    const [from = 0, to = 0] = [move(draft), draft.cursor].toSorted((a, b) => a - b)
    if (from === to) return draft
    const text = draft.text.slice(0, from) + draft.text.slice(to)
    return { text, cursor: from, killed: keep ? draft.text.slice(from, to) : draft.killed }
  }
}

const KEYS: readonly (readonly [names: readonly string[], edit: Edit])[] = [
  [['left', 'ctrl-b'], go(left)],
  [['right', 'ctrl-f'], go(right)],
  [['ctrl-left', 'alt-left', 'alt-b'], go(wordLeft)],
  [['ctrl-right', 'alt-right', 'alt-f'], go(wordRight)],
  [['home', 'ctrl-a'], go(lineStart)],
  [['end', 'ctrl-e'], go(lineEnd)],
  [['up'], (draft) => vertical(draft, -1) ?? draft],
  [['down'], (draft) => vertical(draft, 1) ?? draft],
  [['backspace'], cut(left, false)],
  [['delete'], cut(right, false)],
  [['ctrl-w', 'ctrl-backspace', 'alt-backspace'], cut(wordLeft)],
  [['alt-d', 'ctrl-delete'], cut(wordRight)],
  [['ctrl-u'], cut(lineStart)],
  [['ctrl-k'], cut(restOfLine)],
  [['ctrl-y'], (draft) => insert(draft, draft.killed)],
  [['ctrl-j', 'alt-enter', 'shift-enter', 'ctrl-enter'], (draft) => insert(draft, '\n')],
]
const EDITS: ReadonlyMap<string, Edit> = new Map(KEYS.flatMap(([names, edit]) => names.map((name) => [name, edit] as const)))

export class Question {
  readonly text: string
  /** Absent: the answer is text. */
  readonly choices: readonly Choice[] | undefined
  /** Index of the choice that Enter takes; -1: none yet. */
  selected: number
  draft: Draft = EMPTY_DRAFT
  /** It has been painted, so keys may answer it. */
  isShown = false
  /** It is answered or withdrawn. */
  isSettled = false
  /** Resolves to the index of the choice, or the text; `undefined` without an answer. */
  readonly answer: Promise<number | string | undefined>
  readonly #resolve: (answer: number | string | undefined) => void

  constructor(text: string, choices?: readonly Choice[], selected = -1) {
    this.text = text
    this.choices = choices
    this.selected = selected
    const { promise, resolve } = Promise.withResolvers<number | string | undefined>()
    this.answer = promise
    this.#resolve = resolve
  }

  /** @param answer absent: the question is withdrawn. */
  settle(answer?: number | string): void {
    this.isSettled = true
    this.#resolve(answer)
  }

  press(key: Key): void {
    const name = key.type === 'key' ? key.name : undefined
    if (this.choices === undefined) {
      if (name === 'enter') this.settle(this.draft.text)
      else this.draft = edited(this.draft, key)
    } else if (key.type === 'text') {
      // Several letters that arrive at once are not an answer: a key that is held down repeats its letter.
      const found = this.choices.findIndex((choice) => choice.key === key.text.toLowerCase())
      if (found !== -1) this.settle(found)
    } else if (name === 'enter') {
      if (this.selected >= 0) this.settle(this.selected)
    } else if (name === 'down' || name === 'tab') {
      this.selected = (this.selected + 1) % this.choices.length
    } else if (name === 'up' || name === 'backtab') {
      this.selected = (this.selected <= 0 ? this.choices.length : this.selected) - 1
    }
    // Pasted text never answers a question with choices.
  }
}
