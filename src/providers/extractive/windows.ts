/** The stretches of a passage that may be quoted: whole sentences side by side, or clauses of a sentence that is too long. */

import { patternFor } from '../../util/pattern.ts'
import { readsAsCitation } from './markup.ts'
import { LEAD_IN } from './sentences.ts'
import type { Unit } from './unit.ts'
import { wordCounter } from './words.ts'

/** A stretch of text that reads on its own. */
export interface Window {
  readonly start: number
  readonly end: number
  /** Index of the first and of the last unit that it holds or is cut from. */
  readonly first: number
  readonly last: number
  /** Words, as `wordCounter` counts. */
  readonly length: number
  /** Where the window begins that holds the steps which did not fit. */
  readonly goesOnAt?: number
}

const CLAUSE_BORDER = patternFor(
  String.raw`(?:,(?!\s(?:[\p{Lu}]\.)+)|[;:–—)\]、，；：،؛])["'”’]?(?=\s)|\s(?=[(–—\[])|[、，；：]`,
  'gu',
)
type Count = ReturnType<typeof wordCounter>

/**
 * The windows of at most `limit` words (as `wordCounter` counts), in order of their start.
 *
 * @param steps numbered steps count from the first one on as well, as many as fit.
 */
export function readWindows(text: string, units: readonly Unit[], limit: number, steps = false): Window[] {
  const windows: Window[] = []
  const count = wordCounter(text)
  const lengths = units.map((unit) => count(unit.start, unit.end))
  units.forEach((unit, first) => {
    const own = lengths[first] ?? 0
    if (own > limit) {
      for (const clause of clauses(text, unit, first, limit, count)) windows.push(clause)
      return
    }
    let length = 0
    for (let last = first; last < units.length; last++) {
      const other = units[last]
      if (other === undefined || (last > first && !joined(unit, other))) break
      length += lengths[last] ?? 0
      if (length > limit) break
      // "Yes." says something only with what comes after it.
      if (length > 1 || !continues(units, last, lengths, limit))
        windows.push({ start: unit.start, end: other.end, first, last, length })
      if (other.level !== undefined) break
    }
    if (unit.level === LEAD_IN) windows.push(...withList(text, units, first, limit, count))
    if (steps && unit.kind === 'item') windows.push(...fromStepOne(text, units, first, limit, count))
  })
  return windows.filter(({ start, end, last }) => {
    const { level, kind } = units[last] ?? {}
    if (level !== undefined || kind === 'columns') return false
    // What would have to be quoted as code, and holds some already, cannot be.
    const slice = text.slice(start, end)
    return units[last]?.kind === 'code' || !slice.includes('`') || !readsAsCitation(slice)
  })
}

/** What announces a list, with as much of the list as fits. */
function withList(text: string, units: readonly Unit[], first: number, limit: number, count: Count): Window[] {
  const { start } = units[first] ?? { start: 0 }
  let whole: Window | undefined
  for (let last = first + 1; last < units.length; last++) {
    const unit = units[last]
    const kind = units[first + 1]?.kind
    if (unit === undefined || unit.kind !== kind || (kind !== 'item' && (kind !== 'sentence' || last > first + 1))) break
    if (unit.level !== undefined || BARRED.test(text.slice(units[last - 1]?.end, unit.start))) break
    const length = count(start, unit.end)
    if (length > limit) break
    whole = { start, end: unit.end, first, last, length }
  }
  return whole === undefined ? [] : [whole]
}

/** Numbered steps from the first one on, with their numbers: as many as fit, and windows for those that come after them. */
function fromStepOne(text: string, units: readonly Unit[], first: number, limit: number, count: Count): Window[] {
  const steps = readSteps(text, units, first)
  if (steps.length < 2) return []
  const runs: Window[] = []
  for (const step of steps) {
    const open = runs.at(-1)
    const joined = open === undefined ? undefined : count(open.start, step.end)
    if (open !== undefined && joined !== undefined && joined <= limit) {
      runs.splice(-1, 1, { ...open, end: step.end, last: step.last, length: joined })
    } else {
      const length = count(step.start, step.end)
      if (length > limit || runs.length === MOST_RUNS) break
      runs.push({ ...step, length })
    }
  }
  return runs.map((run, index) => {
    const next = runs[index + 1]
    return next === undefined ? run : { ...run, goesOnAt: next.start }
  })
}

/** More are no answer that anybody reads. */
const MOST_RUNS = 3

type Step = Omit<Window, 'length' | 'goesOnAt'>

/** The steps of the list whose step 1 begins with the unit `first`; none where it is no such step. A list within a step belongs to it. */
function readSteps(text: string, units: readonly Unit[], first: number): Step[] {
  const steps: Step[] = []
  let number = 0
  for (let index = first; index < units.length; index++) {
    const unit = units[index]
    if (unit?.kind !== 'item' || unit.level !== undefined) break
    const before = units[index - 1]
    const between = text.slice(Math.max(index === first ? unit.start - LONGEST_MARKER : 0, before?.end ?? 0), unit.start)
    if (index > first && BARRED.test(between)) break
    const [marker = '', said = ''] = STEP.exec(between) ?? []
    const step = steps.at(-1)
    if (said !== '') {
      if (Number(said) !== ++number) break
      steps.push({ start: unit.start - marker.trimStart().length, end: unit.end, first: index, last: index })
    } else if (step !== undefined && (unit.block === before?.block || INNER_ITEM.test(between))) {
      steps.splice(-1, 1, { ...step, end: unit.end, last: index })
    } else break
  }
  return steps
}

const STEP = /(?:^|\n)[ \t]{0,3}(\d{1,3})[.)][ \t]+$/
const INNER_ITEM = /\n[ \t]+[-*+•‣◦][ \t]+$/
const LONGEST_MARKER = 12

/** What must not be within a quote: fences, tags, footnote marks. */
const BARRED = /```|~~~|[<|]|\[\d/

function continues(units: readonly Unit[], index: number, lengths: readonly number[], limit: number): boolean {
  const unit = units[index]
  const next = units[index + 1]
  return unit !== undefined && next !== undefined && joined(unit, next) && 1 + (lengths[index + 1] ?? 0) <= limit
}

function joined(a: Unit, b: Unit): boolean {
  return a.level === undefined && a.block === b.block && a.kind === 'sentence' && (b.kind === 'sentence' || b.kind === 'code')
}

/** For each clause of a long sentence the longest run of clauses that begins with it. */
function clauses(text: string, unit: Unit, index: number, limit: number, count: Count): Window[] {
  const borders = [unit.start, ...clauseBorders(text, unit), unit.end]
  const windows: Window[] = []
  let covered = unit.start
  for (let i = 0; i + 1 < borders.length; i++) {
    const start = skip(text, borders[i] ?? unit.start)
    let end = start
    for (let j = i + 1; j < borders.length; j++) {
      const here = borders[j] ?? unit.end
      if (here - start > limit * LONGEST_WORD || count(start, here) > limit) break
      end = here
    }
    if (end <= start) end = wordBorder(text, start, unit.end, limit, count)
    // What lies beyond a cut in the middle of a clause begins a stretch of its own.
    if (end < (borders[i + 1] ?? unit.end)) borders.splice(i + 1, 0, end)
    if (end <= covered) continue
    covered = end
    const trimmed = end < unit.end ? start + text.slice(start, end).replace(CLAUSE_END, '').length : end
    if (trimmed > start) windows.push({ start, end: trimmed, first: index, last: index, length: count(start, trimmed) })
  }
  return windows
}

/** What links a clause to the next, and makes no sense at the end of a quote or the beginning of one. */
const CLAUSE_END = /[\s,;:–—([、，；：،؛]+$/u
const CLAUSE_START = /[\s,;:–—)\]、，；：،؛]/u

function clauseBorders(text: string, unit: Unit): number[] {
  const body = text.slice(unit.start, unit.end)
  return [...body.matchAll(CLAUSE_BORDER(body))]
    .map((match) => unit.start + match.index + match[0].length)
    .filter((at) => at > unit.start && at < unit.end)
}

function skip(text: string, at: number): number {
  let i = at
  while (i < text.length && CLAUSE_START.test(text.charAt(i))) i++
  return i
}

/** No 40 words of any text that is read by people are longer than 40 times this; what is, is cut at characters. */
const LONGEST_WORD = 30

/** End of the longest run of whole words within the limit; of characters where there is no space. */
function wordBorder(text: string, start: number, end: number, limit: number, count: Count): number {
  let at = 0
  const body = text.slice(start, Math.min(end, start + limit * LONGEST_WORD))
  for (const match of body.matchAll(/\S+/gu)) {
    const stop = match.index + match[0].length
    if (count(start, start + stop) > limit)
      return at > 0 ? start + at : wholeCharacter(text, start + Math.min(body.length, limit * 2))
    at = stop
  }
  return start + body.length
}

/** Not between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at
}
