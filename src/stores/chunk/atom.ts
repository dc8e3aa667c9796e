/**
 * Atoms: the ranges of a document that are not cut any further, in order, with white space alone between them. Each says how good a
 * place to cut lies before it, so that packing them needs to know nothing about formats.
 */

import { isWhiteSpace } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'

export interface Atom {
  readonly start: number
  readonly end: number
  /** How good it is to cut before this atom, one of `BORDER`. */
  readonly border: number
  /** What the atom stands under: headings, enclosing definitions, keys; outermost first. */
  readonly path: readonly string[]
  /** A heading says nothing without what follows it. */
  readonly isHeading?: boolean
}

/** Comparable with the share of a chunk that is filled: a border that is .5 better is worth a chunk that is half as full. */
export const BORDER = {
  /** Only when there is no other way: between a heading and its text. */
  never: -8,
  /** Inside a sentence or a line that is too long. */
  weak: 0,
  sentence: 0.25,
  line: 0.45,
  item: 0.7,
  paragraph: 0.95,
  block: 1.2,
  /** From here on a chunk is cut unless it is small. */
  section: 8,
} as const

/** How much indentation may stand before the first character of an atom. */
const MAX_INDENT = 64

/** The range without white space around it; indentation of its first line is kept, since it carries meaning in code and lists. */
export function trimRange(text: string, start: number, end: number): Range | undefined {
  let first = start
  while (first < end && isWhiteSpace(text, first)) first++
  if (first === end) return undefined
  let last = end
  while (isWhiteSpace(text, last - 1)) last--
  let lineStart = first
  while (
    lineStart > start &&
    first - lineStart < MAX_INDENT &&
    (text.charCodeAt(lineStart - 1) === 0x20 || text.charCodeAt(lineStart - 1) === 0x09)
  ) {
    lineStart--
  }
  const atLineStart = lineStart === 0 || text.charCodeAt(lineStart - 1) === 0x0a || text.charCodeAt(lineStart - 1) === 0x0d
  return { start: atLineStart ? lineStart : first, end: last }
}
