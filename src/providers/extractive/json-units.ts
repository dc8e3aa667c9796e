/** JSON as units: a member with its value may stand alone, a whole file may not. What cannot be read as JSON is left to the other readers. */

import type { Unit } from './unit.ts'

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"`
const TOKEN = new RegExp(String.raw`${STRING}|[{}[\]:,]|[^\s"{}[\]:,]+`, 'gu')
const BEGINS = new RegExp(String.raw`^[\s[\]{},]*${STRING}\s*:\s*(?:["{[\d-]|true\b|false\b|null\b)`, 'u')
/** A list or a record up to this length is one unit. */
const SHORT = 300
/** Two quotation marks. */
const EMPTY = 2

/** Whether a text is JSON, or a part of it: it begins with a member. */
export function isJson(text: string): boolean {
  return BEGINS.test(text.slice(0, 1000))
}

interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Members with a simple value, short lists and short records; names above them are headings, long strings are prose. Linear. */
export function readJsonUnits(text: string): Unit[] {
  const units: Unit[] = []
  const tokens = Array.from(text.matchAll(TOKEN), ({ 0: token, index }): Token => ({
    text: token,
    start: index,
    end: index + token.length,
  }))
  const inList: boolean[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || token.text === ',' || token.text === ':') continue
    if (token.text === '}' || token.text === ']') {
      inList.pop()
      continue
    }
    const isKey = token.text.startsWith('"') && tokens[at + 1]?.text === ':'
    const valueAt = isKey ? at + 2 : at
    const value = tokens[valueAt]
    if (value === undefined) break
    const opens = value.text === '{' || value.text === '['
    const last = opens ? closing(tokens, valueAt) : valueAt
    const isWhole = last !== undefined && (!opens || (value.text === '[' ? isKey : inList.at(-1) === true))
    const under = levelAt(inList.length)
    const block = units.length + 1
    const isNamed = isKey && token.end - token.start > EMPTY
    if (isKey && value.end - value.start > SHORT) {
      if (isNamed) units.push(nameOf(token, block, under))
      units.push({ start: value.start + 1, end: value.end - 1, kind: 'sentence', block: block + 1 })
      at = valueAt
    } else if (isWhole) {
      units.push({ start: token.start, end: tokens[last]?.end ?? value.end, kind: 'code', block, under })
      at = last
    } else {
      if (isNamed) units.push(nameOf(token, block, under))
      if (opens) inList.push(value.text === '[')
      at = valueAt
    }
  }
  return units
}

function nameOf({ start, end }: Token, block: number, level: number): Unit {
  return { start: start + 1, end: end - 1, kind: 'heading', block, level }
}

/** Deeper is further down, and all of it is above a bold line. */
function levelAt(depth: number): number {
  return 1 + depth / (depth + 1)
}

/** Index of the bracket that closes a short list or record which holds nothing that is nested. */
function closing(tokens: readonly Token[], at: number): number | undefined {
  const start = tokens[at]?.start ?? 0
  for (let next = at + 1; next < tokens.length; next++) {
    const token = tokens[next]
    if (token === undefined || token.end - start > SHORT || token.text === '{' || token.text === '[') return undefined
    if (token.text === '}' || token.text === ']') return next
  }
  return undefined
}
