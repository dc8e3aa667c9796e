/** Finds code in an answer: quotation marks and markers in it mean nothing. */

import type { Range } from '../util/range.ts'

/** Fences of falling lengths that wait for theirs to close: a bound on the cost. */
const MOST_FENCES = 20

/** Code spans and fences, as CommonMark pairs backticks: a run of them is closed by the next run of the same length. */
export function codeRanges(answer: string): Range[] {
  const runs = [...answer.matchAll(/`+|\n[ \t]*\r?\n/g)]
  // For each run the next one of its length in the same paragraph.
  const closing: (number | undefined)[] = []
  let latest = new Map<number, number>()
  let fences: number[] = []
  const nextFence: (number | undefined)[] = []
  for (let index = runs.length - 1; index >= 0; index--) {
    const run = runs[index]
    if (run === undefined) continue
    const [ticks] = run
    if (ticks.startsWith('\n')) {
      latest = new Map()
      continue
    }
    closing[index] = latest.get(ticks.length)
    latest.set(ticks.length, index)
    if (ticks.length >= 3 && startsLine(answer, run.index)) {
      // A longer fence closes a shorter one: what lies behind it will never be looked for again by those.
      nextFence[index] = fences.findLast((other) => (runs[other]?.[0].length ?? 0) >= ticks.length)
      while ((runs[fences.at(-1) ?? -1]?.[0].length ?? Infinity) <= ticks.length) fences.pop()
      fences.push(index)
      if (fences.length > MOST_FENCES) fences = fences.slice(-MOST_FENCES)
    }
  }
  const ranges: Range[] = []
  for (let index = 0; index < runs.length; index++) {
    const run = runs[index]
    if (run === undefined || run[0].startsWith('\n')) continue
    const isFence = run[0].length >= 3 && startsLine(answer, run.index)
    const close = isFence ? nextFence[index] : closing[index]
    const end = close === undefined ? undefined : runs[close]
    if (end !== undefined) ranges.push({ start: run.index, end: end.index + end[0].length })
    else if (isFence) ranges.push({ start: run.index, end: answer.length })
    if (close !== undefined) index = close
    else if (isFence) break
  }
  return ranges
}

function startsLine(answer: string, at: number): boolean {
  return /(?:^|\n)[ \t>]{0,12}$/.test(answer.slice(Math.max(0, at - 13), at))
}

/** A text with ranges put out of sight, offsets kept. A letter as filler does not part the words around, as a space does. */
export function masked(answer: string, code: readonly Range[], filler = 'x'): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of code) {
    parts.push(answer.slice(from, start), filler.repeat(end - start))
    from = end
  }
  parts.push(answer.slice(from))
  return parts.join('')
}
