/** Reads a run of digits, points and commas as numbers: `1,200` is one, `18.00,12` in a table is two. */

import { whenNeeded } from './pattern.ts'

const ONE_NUMBER = whenNeeded(
  () => /^\p{Nd}+,\p{Nd}+$|^\p{Nd}{1,3}(?:,\p{Nd}{2,3})*,\p{Nd}{3}(?:\.\p{Nd}+)?$|^\p{Nd}{1,3}(?:\.\p{Nd}{3})+,\p{Nd}+$/u,
)
const ORDINAL = whenNeeded(() => /\p{L}+$/u)
/** A comma that no prose has: between a letter, or a quotation mark, and what follows without a space. */
const PARTING_COMMA = whenNeeded(() => /[\p{L}\p{M}],\S|\S,[\p{L}\p{M}]|["”’»],\S|\S,["“‘«]\S/u)
/** Characters around a run that are looked at. */
const LOOK_AROUND = 100

/**
 * Parts of a run at those of its commas that part values and do not belong to a number.
 *
 * @param start,end of the run in the text: digits with points, commas and colons between them, `th` at the end.
 * @returns ranges in ascending order, one where the run is one number or has no comma.
 */
export function numbersIn(text: string, start: number, end: number): (readonly [start: number, end: number])[] {
  const run = text.slice(start, end)
  if (!run.includes(',') || (ONE_NUMBER().test(run.replace(ORDINAL(), '')) && !PARTING_COMMA().test(around(text, start, end))))
    return [[start, end]]
  const numbers: [number, number][] = []
  let from = start
  for (const number of run.split(',')) {
    numbers.push([from, from + number.length])
    from += number.length + 1
  }
  return numbers
}

/** The run with what touches it; a quoted value is looked at alone. */
function around(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - LOOK_AROUND), start)
  const after = text.slice(end, end + LOOK_AROUND)
  const left = /(?:["”’»](?=,))?[^\s"“”«»]*$/u.exec(before)?.[0] ?? ''
  const right = /^[^\s"“”«»]*(?:["“‘«]\S)?/u.exec(after)?.[0] ?? ''
  return left + text.slice(start, end) + right
}
