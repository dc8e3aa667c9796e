/** Cuts a text into the windows that a statement is held against: sentences, list items, lines of code, rows of tables. */

import { linesOf } from '../util/lines.ts'
import type { Range } from '../util/range.ts'
import { wordAt } from './comparable-words.ts'
import type { IndexedWords, Words } from './comparable-words.ts'
import { sentenceEnds } from './sentences.ts'

/** A sentence, list item, line of code or row of a table; a row holds the names of its columns too. */
export interface Window extends Range {
  /** Words of the passage from here to there. */
  readonly from: number
  readonly to: number
  readonly isRow: boolean
  /** Of rows: the words that name the columns. */
  readonly header?: Range
}

/** UTF-16 units of a window: what is longer is cut, so that no statement is held against a megabyte. */
const LONGEST_WINDOW = 800
const ROW = /^[ \t]*\||\t.*\t|\S {2,}\S.* {2,}\S/
/** Between values: a comma in a sentence has a space behind it. */
const DELIMITER = /[,;](?! |$)/g
const DELIMITER_ROW = /^[ \t|:-]+$/
const LIST_ITEM = /^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]/

/** In the order of the text. */
export function windowsOf(words: Words): Window[] {
  const { text } = words
  const windows: Window[] = []
  let header: Range | undefined
  let paragraph: { start: number; end: number } | undefined
  let isCode = false
  let before = 0
  const add = (start: number, end: number, isRow: boolean): void => {
    for (let at = start; at < end; at += LONGEST_WINDOW) {
      const last = Math.min(end, at + LONGEST_WINDOW)
      const space = /^\s*/.exec(text.slice(at, last))?.[0].length ?? 0
      const [from, to] = [wordAt(words, at), wordAt(words, last)]
      if (from < to)
        windows.push({ start: at + space, end: last, from, to, isRow, ...(isRow && header !== undefined ? { header } : {}) })
    }
  }
  const close = (): void => {
    if (paragraph === undefined) return
    let { start } = paragraph
    for (const end of [...sentenceEnds(text, paragraph.start, paragraph.end), paragraph.end]) {
      add(start, end, false)
      start = end
    }
    paragraph = undefined
  }
  for (const { start, end, next } of linesOf(text, 0, text.length, '\n')) {
    const head = text.slice(start, Math.min(end, start + LONGEST_WINDOW))
    const isFence = /^[ \t]*(?:```|~~~)/.test(head)
    const delimiters = delimitersIn(head)
    // Lines of values have as many as the line before or behind them.
    const isValues =
      delimiters > 1 &&
      (delimiters === before || delimiters === delimitersIn(text.slice(next, next + LONGEST_WINDOW).split('\n', 1)[0] ?? ''))
    before = delimiters
    const isRow = !isFence && (isCode || isValues || ROW.test(head))
    if (isFence || isRow || LIST_ITEM.test(head) || /^#{1,6}[ \t]/.test(head) || head.trim() === '') close()
    if (isFence) isCode = !isCode
    else if (isRow) {
      if (!DELIMITER_ROW.test(head)) add(start, end, true)
      header ??= isCode ? undefined : { start, end }
    } else if (head.trim() !== '') {
      if (paragraph === undefined) paragraph = { start, end }
      else paragraph.end = end
      header = undefined
    } else header = undefined
  }
  close()
  return windows
}

function delimitersIn(line: string): number {
  return line.match(DELIMITER)?.length ?? 0
}

/** The number of the cell that holds a word. */
export function columnOf(passage: IndexedWords, start: number, end: number, key: string): number | undefined {
  const at = passage.places.get(key)?.find((place) => (passage.starts[place] ?? 0) >= start && (passage.starts[place] ?? 0) < end)
  return at === undefined ? undefined : cellsBefore(passage.text.slice(start, passage.starts[at]))
}

export function cellsBefore(text: string): number {
  const bars = text.split(/\||\t/).length - 1
  return bars > 0 ? bars : text.split(/[,;]/).length - 1
}

/** Commas between the values of a row part numbers, they are none of their marks. */
export function withoutCommas(text: string, windows: readonly Window[]): string {
  let plain = ''
  let from = 0
  for (const { start, end, isRow } of windows) {
    if (!isRow || /[|\t]/.test(text.slice(start, end))) continue
    plain += text.slice(from, start) + text.slice(start, end).replaceAll(/[,;](?! )/g, '|')
    from = end
  }
  return plain + text.slice(from)
}
