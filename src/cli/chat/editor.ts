/** Edits the text of a message by keys. Pure. */

import { graphemes } from '../../util/cells.ts'
import type { Key } from './keys.ts'

export interface Draft {
  readonly text: string
  /** Offset in UTF-16 units, never inside a character. */
  readonly cursor: number
  /** What was cut last. */
  readonly killed: string
}

export const EMPTY_DRAFT: Draft = { text: '', cursor: 0, killed: '' }

/** The draft with this text and the cursor at its end. */
export function withText(draft: Draft, text: string): Draft {
  return { ...draft, text, cursor: text.length }
}

export function insert(draft: Draft, text: string): Draft {
  const { before, after } = sides(draft)
  return { ...draft, text: before + text + after, cursor: before.length + text.length }
}

/** `undefined` for a key that does nothing to text. */
export function edited(draft: Draft, key: Key): Draft | undefined {
  if (key.type !== 'key') return insert(draft, key.text)
  return KEYS[key.name]?.(draft)
}

type Edit = (draft: Draft) => Draft

const left: Edit = (draft) => ({ ...draft, cursor: draft.cursor - lengthOfLast(sides(draft).before) })
const right: Edit = (draft) => ({ ...draft, cursor: draft.cursor + lengthOfFirst(sides(draft).after) })
const wordLeft: Edit = (draft) => ({ ...draft, cursor: wordStart(sides(draft).before) })
const wordRight: Edit = (draft) => ({ ...draft, cursor: draft.cursor + wordEnd(sides(draft).after) })
const lineStart: Edit = (draft) => ({ ...draft, cursor: sides(draft).before.lastIndexOf('\n') + 1 })
const lineEnd: Edit = (draft) => ({ ...draft, cursor: endOfLine(draft) })
const newLine: Edit = (draft) => insert(draft, '\n')

function endOfLine({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor)
  return end === -1 ? text.length : end
}

/** Cuts what lies between the cursor and where `move` would take it. */
function cut(move: Edit, keep: boolean): Edit {
  return (draft) => {
    const { cursor } = move(draft)
    const [from, to] = [Math.min(cursor, draft.cursor), Math.max(cursor, draft.cursor)]
    if (from === to) return draft
    const text = draft.text.slice(0, from) + draft.text.slice(to)
    return { text, cursor: from, killed: keep ? draft.text.slice(from, to) : draft.killed }
  }
}

/** To the end of the line; at its end, the line end itself. */
const killLine: Edit = (draft) => (endOfLine(draft) === draft.cursor ? cut(right, true)(draft) : cut(lineEnd, true)(draft))

const KEYS: Readonly<Record<string, Edit | undefined>> = {
  left,
  right,
  'ctrl-b': left,
  'ctrl-f': right,
  'ctrl-left': wordLeft,
  'ctrl-right': wordRight,
  'alt-left': wordLeft,
  'alt-right': wordRight,
  'alt-b': wordLeft,
  'alt-f': wordRight,
  home: lineStart,
  end: lineEnd,
  'ctrl-a': lineStart,
  'ctrl-e': lineEnd,
  backspace: cut(left, false),
  delete: cut(right, false),
  'ctrl-w': cut(wordLeft, true),
  'ctrl-backspace': cut(wordLeft, true),
  'alt-backspace': cut(wordLeft, true),
  'alt-d': cut(wordRight, true),
  'ctrl-delete': cut(wordRight, true),
  'ctrl-u': cut(lineStart, true),
  'ctrl-k': killLine,
  'ctrl-y': (draft) => insert(draft, draft.killed),
  'ctrl-j': newLine,
  'alt-enter': newLine,
  'shift-enter': newLine,
  'ctrl-enter': newLine,
  up: (draft) => vertical(draft, -1) ?? draft,
  down: (draft) => vertical(draft, 1) ?? draft,
}

/** One line up or down; `undefined` where there is none. */
export function vertical(draft: Draft, by: -1 | 1): Draft | undefined {
  const { text } = draft
  const start = lineStart(draft).cursor
  const column = graphemes(text.slice(start, draft.cursor)).length
  const target = by === -1 ? start - 1 : endOfLine(draft) + 1
  if (target < 0 || target > text.length) return undefined
  const from = by === -1 ? text.lastIndexOf('\n', target - 1) + 1 : target
  const line = text.slice(from, by === -1 ? target : endOfLine({ ...draft, cursor: target }))
  return { ...draft, cursor: from + graphemes(line).slice(0, column).join('').length }
}

function sides({ text, cursor }: Draft): { readonly before: string; readonly after: string } {
  return { before: text.slice(0, cursor), after: text.slice(cursor) }
}

/** So much text surely holds a whole character; a long draft is not looked at as a whole for one. */
const NEAR = 64

function lengthOfLast(text: string): number {
  return graphemes(text.slice(-NEAR)).at(-1)?.length ?? 0
}

function lengthOfFirst(text: string): number {
  return graphemes(text.slice(0, NEAR))[0]?.length ?? 0
}

function wordStart(text: string): number {
  return /[\p{L}\p{N}_]+[^\p{L}\p{N}_]*$/u.exec(text)?.index ?? 0
}

function wordEnd(text: string): number {
  return /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]+/u.exec(text)?.[0].length ?? text.length
}
