/** What a line of source code defines, and the remark that says what it is for. */

import type { Unit } from './unit.ts'

/** What stands before the name of a method in Go. */
const RECEIVER = /^func\s*\([^)]*\)\s*/
/** What follows a name: its parameters, value, type, body or ancestors. */
const AFTER_NAME = /[({<:=;]|\s(?:extends|implements|where|for)\s/
const LAST_NAME = /[\p{L}_$#][\p{L}\p{N}_$]*$/u
const NO_DEFINITION =
  /^(?:if|else|for|while|switch|case|return|throw|raise|await|yield|import|from|require|use|using|expect|assert|test|it|describe|new|print|console|@|#\[)(?![\p{L}\p{N}_])/u
const LONGEST_HEAD = 300

/** Where in the text the name stands that a line of code defines; `undefined` where it defines none, as far as a line can tell. */
export function definedName(text: string, { start, end }: Unit): readonly [start: number, end: number] | undefined {
  const line = text.slice(start, Math.min(end, start + LONGEST_HEAD))
  if (NO_DEFINITION.test(line)) return undefined
  const from = RECEIVER.exec(line)?.[0].length ?? 0
  const after = line.slice(from)
  const head = after.slice(0, AFTER_NAME.exec(after)?.index ?? after.length).trimEnd()
  const name = LAST_NAME.exec(head)?.[0]
  // `book.total()` calls, and `open` alone is a word.
  if (name === undefined || head.slice(0, -name.length).endsWith('.') || !isDefinition(line, head)) return undefined
  return [start + from + head.length - name.length, start + from + head.length]
}

/** Keywords, types and names; a quotation mark is in the midst of something. */
const NAMES_ALONE = /^[\p{L}_$#*&][\p{L}\p{N}_$#*&.,?[\]\s]*$/u

/** A keyword before the name, a value, or a body behind it. */
function isDefinition(line: string, head: string): boolean {
  return (/\s/.test(head) && NAMES_ALONE.test(head)) || /[{:=]\s*$|^[^(]*=/.test(line) || /^[^(]*:/.test(line)
}

const EMPTY_LINE = /\n[ \t]*\r?\n/
const DOCSTRING = /"""|'''/
/** What may stand between a remark and what it is about. */
const DECORATES = /^(?:@|#\[)/

/** For each sentence of a remark the line of code that it stands right above or, as the docstrings of Python do, right below. */
export function describedLines(text: string, units: readonly Unit[]): ReadonlyMap<Unit, Unit> {
  const described = new Map<Unit, Unit>()
  let remark: Unit[] = []
  let line: Unit | undefined
  let isDocstring = false
  for (const [index, unit] of units.entries()) {
    const between = text.slice(units[index - 1]?.end ?? 0, unit.start)
    if (EMPTY_LINE.test(between)) remark = []
    if (unit.kind !== 'code') {
      isDocstring = units[index - 1]?.kind === 'code' ? DOCSTRING.test(between) : isDocstring
      if (isDocstring && line !== undefined) described.set(unit, line)
      else remark.push(unit)
      continue
    }
    line = unit
    if (DECORATES.test(text.slice(unit.start, unit.start + 2))) continue
    for (const sentence of remark) described.set(sentence, unit)
    remark = []
  }
  return described
}
