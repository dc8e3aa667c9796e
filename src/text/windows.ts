/** Cuts a text into windows that statements are compared with: sentences, list items, lines of code, rows of tables. */

import { linesOf } from '../util/lines.ts'
import type { Range } from '../util/range.ts'
import { wordAt } from './comparable-words.ts'
import type { IndexedWords, Words } from './comparable-words.ts'
import { sentenceEnds } from './sentences.ts'

/** A sentence, list item, line of code or row of a table; a row includes the names of its columns. */
export interface Window extends Range {
  /** Index range of its words in the passage. */
  readonly from: number
  readonly to: number
  readonly isRow: boolean
  /** Of a row: the words that name the columns. */
  readonly header?: Range
}

/** Longest window in UTF-16 units; longer ones are cut, so that a statement is not compared with a megabyte. */
const LONGEST_WINDOW = 800
const ROW = /^[ \t]*\||\t.*\t|\S {2,}\S.* {2,}\S/
/** Separators of values: in a sentence a space follows the comma. */
const DELIMITER = /[,;](?! |$)/g
const DELIMITER_ROW = /^[ \t|:-]+$/
const LIST_ITEM = /^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]/

/** Returns windows in text order. */
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
    // A line of values has as many delimiters as the line before or after it.
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

/** Returns the number of the cell with a word. */
export function columnOf(passage: IndexedWords, start: number, end: number, key: string): number | undefined {
  const at = passage.places.get(key)?.find((place) => (passage.starts[place] ?? 0) >= start && (passage.starts[place] ?? 0) < end)
  return at === undefined ? undefined : cellsBefore(passage.text.slice(start, passage.starts[at]))
}

export function cellsBefore(text: string): number {
  const bars = text.split(/\||\t/).length - 1
  return bars > 0 ? bars : text.split(/[,;]/).length - 1
}

/** Replaces commas between the values of a row, so that they are not read as thousands separators. */
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
