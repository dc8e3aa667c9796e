/** Replaces one exact text by another, in text with line feeds, and says where each line end comes from. */

import { usualLineEnd } from './line-ends.ts'
import type { LineEnd } from './line-ends.ts'

export interface Replacement {
  readonly old: string
  readonly new: string
  readonly all: boolean
}

export interface Replaced {
  readonly text: string
  readonly ends: readonly LineEnd[]
}

const MAX_LENGTH = 20_000_000

/** What was replaced, or why nothing can be. */
export function replaceText(
  text: string,
  ends: readonly LineEnd[],
  replacement: Replacement,
): Replaced | { readonly problem: string } {
  if (replacement.old === '') return { problem: 'old_string is empty: give the text that is to be replaced.' }
  if (replacement.old === replacement.new)
    return { problem: 'old_string and new_string are the same: there is nothing to change.' }
  const places = placesOf(text, replacement.old)
  if (places.length === 0) return { problem: `old_string does not occur in the file.${nearMiss(text, replacement.old)}` }
  if (places.length > 1 && !replacement.all) {
    const lines = places.slice(0, 10).map((place) => lineOf(text, place))
    const more = places.length > lines.length ? ', …' : ''
    return {
      problem: `old_string occurs ${places.length} times, in lines ${lines.join(', ')}${more}: give more of the text around it, or set replace_all.`,
    }
  }
  if (text.length + places.length * (replacement.new.length - replacement.old.length) > MAX_LENGTH) {
    return { problem: `Replacing ${places.length} places would make the file too large.` }
  }
  return replaceAt(places, text, ends, replacement)
}

/** Occurrences that do not overlap. */
function placesOf(text: string, part: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function replaceAt(
  places: readonly number[],
  text: string,
  ends: readonly LineEnd[],
  { old, new: young }: Replacement,
): Replaced {
  const usual = usualLineEnd(ends)
  const [oldLines, newLines] = [countLineFeeds(old), countLineFeeds(young)]
  const pieces: string[] = []
  const kept: LineEnd[] = []
  let at = 0
  let line = 0
  const keep = (piece: string): void => {
    pieces.push(piece)
    const count = countLineFeeds(piece)
    for (const end of ends.slice(line, line + count)) kept.push(end)
    line += count
  }
  for (const place of places) {
    keep(text.slice(at, place))
    pieces.push(young)
    // A line that stays a line keeps its end.
    for (let index = 0; index < newLines; index++) kept.push(index < oldLines ? (ends[line + index] ?? usual) : usual)
    line += oldLines
    at = place + old.length
  }
  keep(text.slice(at))
  return { text: pieces.join(''), ends: kept }
}

function countLineFeeds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

function lineOf(text: string, place: number): number {
  return countLineFeeds(text.slice(0, place)) + 1
}

/** The same words with other white space is the commonest mistake. */
function nearMiss(text: string, old: string): string {
  const squeezed = (some: string): string => some.replaceAll(/\s+/g, ' ').trim()
  const wanted = squeezed(old)
  if (wanted !== '' && squeezed(text).includes(wanted)) {
    return ' It does with other white space: copy it exactly as it stands there.'
  }
  const first = old.split('\n').find((line) => line.trim() !== '')
  const found = first === undefined ? -1 : text.indexOf(first.trim())
  return found === -1 ? '' : ` Its first line stands in line ${lineOf(text, found)}: read the file there.`
}
