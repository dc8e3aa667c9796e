/**
 * Yields atoms of JSON, JSON with comments and JSON lines: members and elements, whole where they fit, under the keys above them. Tolerates
 * invalid JSON.
 */

import { isWhiteSpace } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'
import { BORDER, proseAtoms } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'
import { Nest } from './nest.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LONGEST_KEY = 100
const KEY = /^\s*"((?:[^"\\]|\\.)*)"\s*:/

export function* readJson(cutting: Cutting): Generator<Atom> {
  const { text, lineBreak, max } = cutting
  const nest = new Nest(max)
  // Start of the current member or element; -1 between two.
  let start = -1
  let afterClose = false
  let tooDeep = 0
  const add = (range: Range, border: number): void => {
    for (const atom of proseAtoms(cutting, range, { border, path: [] })) nest.add(atom, atom.border)
  }
  const leaf = (end: number): void => {
    if (start !== -1) add({ start, end }, borderAt(nest.depth))
    start = -1
  }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const opens = character === '{' || character === '['
    const closes = character === '}' || character === ']'
    if ((opens && nest.depth === DEEPEST) || (closes && tooDeep > 0)) {
      tooDeep += opens ? 1 : -1
      if (start === -1) start = at
    } else if (opens) {
      const from = start === -1 ? at : start
      const border = borderAt(nest.depth)
      if (nest.depth === 0) yield* nest.take()
      nest.open()
      nest.name(keyOf(text, from, at))
      add({ start: from, end: at + 1 }, border)
      start = -1
      afterClose = false
    } else if (closes) {
      leaf(at)
      nest.add({ start: at, end: at + 1 }, BORDER.never)
      nest.close()
      afterClose = true
    } else if (character === ',') {
      if (start === -1 && afterClose) nest.append({ start: at, end: at + 1 })
      else {
        if (start === -1) start = at
        leaf(at + 1)
      }
      afterClose = false
    } else if (!isWhiteSpace(text, at)) {
      if (start === -1) start = at
      afterClose = false
      if (text.charCodeAt(at) === QUOTE) at = stringEnd(text, at)
    } else if (nest.depth === 0 && character === lineBreak) {
      leaf(at)
    }
  }
  leaf(text.length)
  while (nest.depth > 0) nest.close()
  yield* nest.take()
}

const BORDERS = [BORDER.block, BORDER.paragraph, BORDER.item]

function borderAt(depth: number): number {
  return BORDERS[depth] ?? BORDER.line
}

/** Deeper brackets are read as text. */
const DEEPEST = 256

/** Returns the offset of the closing quote. JSON strings hold no line breaks, so an unclosed string ends with its line. */
function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
    else if (code === 0x0a || code === 0x0d) return at - 1
  }
  return text.length - 1
}

function keyOf(text: string, start: number, end: number): string {
  return KEY.exec(text.slice(start, Math.min(end, start + LONGEST_KEY)))?.[1] ?? ''
}
