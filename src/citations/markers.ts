/** Which passages the markers of an answer name: `[1]`, `[1, 3]`, `[2-4]`, `【1】`. */

import { hasWords } from '../text/last-sentence.ts'
import { rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'

/** Markers that stand together. */
export interface MarkerGroup extends Range {
  readonly markers: readonly string[]
}

const MARKER = /[[【]{1,2}\^?\d{1,4}(?:[ \t]?[,;–-][ \t]?\^?\d{1,4}){0,50}[\]】]{1,2}/g
/** Markers that a range such as `[1-3]` may stand for. */
const LONGEST_RANGE = 20
/** Units between two markers that stand together. */
const LONGEST_GAP = 20
/** UTF-16 units that are looked through for words behind a marker: a bound on the cost. */
const LONGEST_REST = 2000

/** Markers outside of code, and outside of quotations that go on after them: those quote a text that has markers itself. */
export function markerGroups(text: string, quotations: readonly Range[]): MarkerGroup[] {
  const groups: { start: number; end: number; markers: string[] }[] = []
  for (const { index: start, 0: marker } of text.matchAll(MARKER)) {
    const end = start + marker.length
    if (isQuoted(text, quotations, start, end)) continue
    const before = groups.at(-1)
    const markers = namesIn(marker)
    if (before !== undefined && start - before.end <= LONGEST_GAP && /^[ \t,;]*$/.test(text.slice(before.end, start))) {
      before.end = end
      before.markers.push(...markers)
    } else groups.push({ start, end, markers })
  }
  return groups.map(({ start, end, markers }) => ({ start, end, markers: [...new Set(markers)] }))
}

function isQuoted(text: string, quotations: readonly Range[], start: number, end: number): boolean {
  const around = rangeAround(quotations, start)
  // It is a marker of this answer unless another one follows the quotation.
  return (
    around !== undefined &&
    hasWords(text.slice(end, Math.min(around.end, end + LONGEST_REST))) &&
    /^["'”’“»›」』*_.,;]{0,4}\s{0,3}[[【]\d/.test(text.slice(around.end, around.end + 12))
  )
}

function namesIn(marker: string): string[] {
  const names: string[] = []
  for (const part of marker.replaceAll(/[[\]【】^\s]/g, '').split(/[,;]/)) {
    const [first, last] = part.split(/[–-]/).map(Number)
    if (first === undefined) continue
    if (last === undefined || last <= first || last - first > LONGEST_RANGE) {
      names.push(...part.split(/[–-]/).map((name) => String(Number(name))))
    } else for (let name = first; name <= last; name++) names.push(String(name))
  }
  return names
}
