/** Headings stay with the text below them. */

import type { Atom, Range } from './atom.ts'
import { cutRange } from './cut.ts'

/** A heading as one atom; one that is longer than a chunk in several. */
export function* headingAtoms(text: string, range: Range, border: number, path: readonly string[], max: number): Generator<Atom> {
  for (const part of cutRange(text, range.start, range.end, max)) yield { ...part, border, path, isHeading: true }
}

/** What is left of a chunk that begins with headings of this length; headings that fill half a chunk get no consideration. */
export function room(max: number, prefix: number): number {
  return prefix < max / 2 ? max - prefix : max
}
