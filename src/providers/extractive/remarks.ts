/** Remarks in source code with a question in mind: which of them speak of the name that it asks for. */

import { definedName, describedLines } from './definitions.ts'
import type { Stretch, Unit } from './unit.ts'

export interface Remarks {
  /** How well each term is said by the name that the remark stands above; `undefined` where it stands above none. */
  readonly nameSaid: (unit: Unit | undefined) => readonly number[] | undefined
  /** It is the first that a remark says of a name of the question. */
  readonly opensAsked: (unit: Unit) => boolean
  /** It is further down in such a remark: what something is for stands in its first words. */
  readonly goesOnAsked: (unit: Unit) => boolean
  /** A line that defines a name of the question without any remark. */
  readonly isAskedAlone: (line: Unit) => boolean
}

/**
 * @param units of the source code, none for any other text.
 * @param said how well each term is said within a stretch of the text.
 */
export function readRemarks(text: string, units: readonly Unit[], said: (stretch: Stretch) => readonly number[]): Remarks {
  const described = describedLines(text, units)
  const lines = new Set(described.values())
  const nameOf = (line: Unit): readonly number[] | undefined => {
    const name = definedName(text, line)
    return name === undefined ? undefined : said({ start: name[0], end: name[1] })
  }
  const names = new Map([...lines].map((line) => [line, nameOf(line)]))
  const before = new Map(units.map((unit, index) => [unit, units[index - 1]]))
  const lineOf = (unit: Unit | undefined): Unit | undefined => (unit === undefined ? undefined : described.get(unit))
  const nameSaid = (unit: Unit | undefined): readonly number[] | undefined => {
    const line = lineOf(unit)
    return line === undefined ? undefined : names.get(line)
  }
  const isAsked = (unit: Unit): boolean => nameSaid(unit)?.includes(1) === true
  const goesOn = (unit: Unit): boolean => lineOf(before.get(unit)) === lineOf(unit)
  return {
    nameSaid,
    opensAsked: (unit) => isAsked(unit) && !goesOn(unit),
    goesOnAsked: (unit) => isAsked(unit) && goesOn(unit),
    isAskedAlone: (line) => !lines.has(line) && nameOf(line)?.includes(1) === true,
  }
}
