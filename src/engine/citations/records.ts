/** Tables as records: what one row, or where the columns are the things one column, says of what it is about. */

import type { PassageText, Words } from './comparison.ts'
import { foldedWords } from './comparison.ts'
import type { Range } from './range.ts'
import type { Table } from './tables.ts'
import { agree, isLetter, letterTerm, monthOf, numbersOf, termsOf } from './terms.ts'
import type { Term } from './terms.ts'
import { tokensOf } from './tokens.ts'
import { bagHasFormOf, bagOf } from './word-forms.ts'
import type { Bag } from './word-forms.ts'

export interface Cell {
  /** As it stands there. */
  readonly text: string
  /** Folded, all of them. */
  readonly words: readonly string[]
  /** Those before a remark in brackets; none, where there is no remark. */
  readonly head: readonly string[]
  readonly bag: Bag
  readonly terms: readonly Term[]
  /** Lists are said in part: the terms of each element. */
  readonly elements: readonly (readonly Term[])[]
  readonly numbers: ReadonlySet<string>
  /** Days and months of dates, which say nothing about other numbers. */
  readonly days: ReadonlySet<string>
  /** Numbers that are digits of a code. */
  readonly digits: ReadonlySet<string>
  /** Months that its dates write as numbers. */
  readonly months: ReadonlySet<number>
  /** What it says to the name of its column, where it says yes or no. */
  readonly says: boolean | undefined
}

export interface DataRecord {
  readonly cells: readonly Cell[]
  /** What it is called when it is spoken of: its first cell that holds something. */
  readonly label: string
  /** Number of the row. */
  readonly index: number
}

export interface View {
  readonly of: 'row' | 'column'
  /** Names of the cells, as far as they are known. */
  readonly names: readonly (Cell | undefined)[]
  readonly captions: readonly Cell[]
  readonly records: readonly DataRecord[]
}

/** Rows and columns up to which a table is read by columns too: a bound on the cost, beyond what anybody compares things in. */
export const MOST_ROWS = 100
const MOST_COLUMNS = 40
/** Characters of a label. */
export const LONGEST_LABEL = 40

const views = new WeakMap<Table, readonly View[]>()

/** The rows as records; and the columns, where they have names. */
export function viewsOf(passage: PassageText, table: Table): readonly View[] {
  const known = views.get(table)
  if (known !== undefined) return known
  const made = readViews(passage, table)
  views.set(table, made)
  return made
}

function readViews({ text, columnsAbove }: PassageText, table: Table): View[] {
  const cellOf = ({ start, end }: Range): Cell => readCell(text.slice(start, end))
  // Where K, L and M are names, so is N.
  const asksFirst = table.rows
    .slice(0, MOST_ROWS)
    .every(({ cells: [first] }) => first === undefined || isAnswer(text.slice(first.start, first.end)))
  const cellInRow = (range: Range, column: number): Cell => {
    const cell = cellOf(range)
    return column === 0 && !asksFirst && isLetter(cell) ? { ...cell, says: undefined } : cell
  }
  const captions = table.captions.map(cellOf)
  const width = table.rows.reduce((most, { cells }) => Math.max(most, cells.length), 0)
  const names =
    table.header === undefined
      ? columnsAbove?.length === width
        ? columnsAbove.map(readCell)
        : []
      : table.header.cells.map(cellOf)
  const rows = table.rows.map(({ cells }, index) => recordOf(() => cells.map(cellInRow), index))
  const byRow: View = { of: 'row', names, captions, records: rows }
  const isSmall = rows.length <= MOST_ROWS && names.length <= MOST_COLUMNS
  if (names.length < 2 || !isSmall) return [byRow]
  const records = names
    .slice(1)
    .map((name, at) => recordOf(() => [name, ...rows.map(({ cells }) => cells[at + 1] ?? NOTHING)], at + 1))
  return [byRow, { of: 'column', names: [names[0], ...rows.map(({ cells }) => cells[0])], captions, records }]
}

/** Of a large table only those rows are read that a statement may be about. */
function recordOf(read: () => readonly Cell[], index: number): DataRecord {
  let known: readonly Cell[] | undefined
  const cells = (): readonly Cell[] => (known ??= read())
  return {
    index,
    get cells() {
      return cells()
    },
    get label() {
      const label = cells().find(({ text }) => text !== '')?.text ?? ''
      return label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label
    },
  }
}

const YES = /^(?:yes|y|true|on|✓|✔|☑|✅|ja|wahr|oui|vrai|sí|si|sim|verdadero|是|有)$/iu
const NO = /^(?:no|n|none|keine?r?|aucune?|ninguno|false|off|✗|✘|☐|❌|nein|falsch|non|faux|nee|não|falso|否|无|無)$/iu

function isAnswer(text: string): boolean {
  return YES.test(text) || NO.test(text)
}

function readCell(raw: string): Cell {
  const text = raw
    .replace(/^"([^]*)"$/, '$1')
    .replaceAll('""', '"')
    .replaceAll(/[*`]+/g, '')
    .trim()
  const words = wordsOf(text)
  const all = { from: 0, to: words.starts.length }
  const folded = foldedWords(words, 0, all.to)
  const terms = namesOf(text, words)
  const { numbers, days, months } = datesIn(text)
  for (const [at, term] of terms.entries()) {
    if (term.kind !== 'number' || days.has(term.word.replace(/^0/, ''))) continue
    for (const value of numbersOf(term)) numbers.add(value)
    const next = terms[at + 1]
    // `10 000` is one number.
    if (next?.kind === 'number' && /^\d{1,3}$/.test(term.word) && /^\d{3}$/.test(next.word)) numbers.add(term.word + next.word)
  }
  // A month beside a number may be written as one.
  if (numbers.size > 0) for (const word of folded) if (monthOf(word) !== undefined) days.add(String(monthOf(word)))
  const digits = terms.flatMap(({ kind, parts }) => (kind === 'code' ? parts.filter((part) => /^\d/.test(part)) : []))
  return {
    text,
    words: folded,
    head: headWords(text),
    bag: bagOf(folded),
    terms,
    elements: elementsOf(text),
    numbers,
    days,
    digits: new Set(digits.map((part) => part.replace(/^0+(?=\d)/, ''))),
    months,
    says: YES.test(text) ? true : NO.test(text) ? false : undefined,
  }
}

const NONE: ReadonlySet<never> = new Set<never>()
const NOTHING: Cell = {
  text: '',
  words: [],
  head: [],
  bag: new Map<string, readonly string[]>(),
  terms: [],
  elements: [],
  numbers: NONE,
  days: NONE,
  digits: NONE,
  months: NONE,
  says: undefined,
}

function wordsOf(text: string): Words {
  const tokens = [...tokensOf(text)]
  return { text, ids: [], starts: tokens.map(({ start }) => start), ends: tokens.map(({ end }) => end) }
}

/** What means something in a cell, a letter or two by themselves too. */
function namesOf(text: string, words: Words): Term[] {
  const terms = termsOf(words, { from: 0, to: words.starts.length })
  const letter =
    terms.length === 0 && (text.length === 1 || !isAnswer(text)) ? letterTerm(text, foldedWords(words, 0, 1)[0] ?? '') : undefined
  return letter === undefined ? terms : [letter]
}

function headWords(text: string): readonly string[] {
  const bracket = text.search(/\s[([]/)
  if (bracket < 1) return []
  const words = wordsOf(text.slice(0, bracket))
  return foldedWords(words, 0, words.starts.length)
}

function elementsOf(text: string): Term[][] {
  const parts = text.split(/[,;/]\s+|\s\/\s/)
  return parts.length < 2 ? [] : parts.map((part) => namesOf(part, wordsOf(part)))
}

interface Dates {
  /** Years, and the dates as they are written. */
  readonly numbers: Set<string>
  readonly days: Set<string>
  readonly months: Set<number>
}

/** `2020-02-29`, `29.02.2020`, `2/29/2020`: of the last, either may be the month. */
function datesIn(text: string): Dates {
  const dates: Dates = { numbers: new Set<string>(), days: new Set<string>(), months: new Set<number>() }
  for (const { 0: whole, groups } of text.matchAll(
    /(?<![\d.])(?:(?<y>\d{4})[-/.](?<m>\d{1,2})[-/.](?<d>\d{1,2})|(?<a>\d{1,2})(?<mark>[-/.])(?<b>\d{1,2})[-/.](?<year>\d{4}|\d{2}))(?!\d)/g,
  )) {
    const { y, m, d, a, b, year, mark } = groups ?? {}
    for (const number of [whole, y ?? year ?? '']) dates.numbers.add(number)
    for (const part of [m, d, a, b]) if (part !== undefined) dates.days.add(String(Number(part)))
    for (const month of mark === undefined ? [m] : mark === '.' ? [b] : [a, b])
      if (Number(month) >= 1 && Number(month) <= 12) dates.months.add(Number(month))
  }
  return dates
}

/** Whether a cell has what a term says. */
export function cellHas(cell: Cell, term: Term): boolean {
  if (term.kind === 'number') {
    const isIn = (value: string): boolean => cell.numbers.has(value) || (term.isOfDate === true && cell.days.has(value))
    return isIn(term.word) || numbersOf(term).some(isIn)
  }
  if (term.kind === 'letter') return [cell.terms, ...cell.elements].some(([one]) => one?.kind === 'letter' && agree(one, term))
  if (term.kind === 'code')
    return cell.terms.some(({ kind, word }) => kind === 'code' && word === term.word) || hasInOrder(cell, term)
  if (term.kind === 'pair') return cell.terms.some(({ kind, word }) => kind === 'pair' && word === term.word)
  if (bagHasFormOf(cell.bag, term.word)) return true
  const month = cell.months.size === 0 ? undefined : monthOf(term.word)
  return month !== undefined && cell.months.has(month)
}

/** `K 2` for `K2`. */
function hasInOrder({ words }: Cell, { parts }: Term): boolean {
  return words.some((_, at) => parts.every((part, index) => words[at + index] === part))
}

export function isNumeric({ terms }: Cell): boolean {
  return terms.every(({ kind }) => kind === 'number')
}
