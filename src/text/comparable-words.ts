/**
 * Splits text into words that compare equal if only case, accents, width, punctuation or markup differ, and into the windows that statements are
 * compared with: sentences, list items, lines of code, rows of tables.
 */

import { linesOf } from '../util/lines.ts'
import { patternFor } from '../util/pattern.ts'
import { firstIndex, rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'
import { fold, normalize } from './fold.ts'
import { sentencesIn } from './sentences.ts'

/** Parallel arrays: each word, its stem, and its offsets in the text. */
export interface Words {
  readonly text: string
  readonly words: readonly string[]
  readonly keys: readonly string[]
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** Words with an index of the places of each stem. */
export interface IndexedWords extends Words {
  readonly places: ReadonlyMap<string, readonly number[]>
}

/** Scripts without spaces between words: each character counts as a word. */
const DENSE = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const WORD = patternFor(
  String.raw`[${DENSE}]|(?:(?:(?![${DENSE}])[\p{L}\p{N}\p{M}])+)(?:_+(?:(?![${DENSE}])[\p{L}\p{N}\p{M}])+)*|[<>=+%$€£¥≤≥≠&|]`,
  'gu',
)
const DENSE_WORD = /^[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]$/u
/** Markup between the words of a source: link addresses, tags, footnote marks, table bars, block-quote marks. */
const MARKUP = /\]\([^()\s]{0,500}\)|<\/?[A-Za-z][^<>\n]{0,200}>|\[\^?\d{1,3}\]|(?<=^|\n)[ \t]*>|\|/g
/** Inflectional endings, removed one after the other as long as enough of the word is left. */
const ENDING = /(?:ing|ed|er|en|es|em|ly|[aeiouystn]|[аеёиоуыэюяйьмхвтн])$/u
const SHORTEST_STEM = 4
const LONGEST_STEM = 9

/** @param skip ranges without words. */
export function readWords(text: string, skip: readonly Range[] = []): Words {
  const words: string[] = []
  const keys: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  const markup = [...text.matchAll(MARKUP)].map(({ index, 0: { length } }) => ({ start: index - 1, end: index + length }))
  for (const { index: start, 0: raw } of text.matchAll(WORD(text))) {
    if (rangeAround(skip, start + 1) !== undefined || rangeAround(markup, start) !== undefined) continue
    if (raw === '+' && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 8), start))) continue
    const isSigned =
      /^\p{N}/u.test(raw) &&
      /(?:^|[\s(])[-−]$/.test(text.slice(Math.max(0, start - 2), start)) &&
      !/\p{N}\s[-−]$/u.test(text.slice(Math.max(0, start - 3), start))
    for (const part of normalize(raw).split(/[^\p{L}\p{N}\p{M}_<>=+%$€£¥≤≥≠&|]+/u)) {
      const word = fold(part)
      if (word === '') continue
      words.push(isSigned ? `-${word}` : word)
      keys.push(stemOf(word))
      starts.push(start)
      ends.push(start + raw.length)
    }
  }
  // A single character of a dense script is ambiguous, so that its key is the pair with the next.
  for (let at = 0; at < keys.length; at++) {
    if (!DENSE_WORD.test(words[at] ?? '')) continue
    const next = words[at + 1] ?? ''
    if (DENSE_WORD.test(next) && starts[at + 1] === ends[at]) keys[at] = `${words[at]}${next}`
  }
  return { text, words, keys, starts, ends }
}

/** Returns a stem that the inflected forms of a word share in most languages with endings. */
export function stemOf(word: string): string {
  let stem = word
  for (;;) {
    const ending = ENDING.exec(stem)?.[0].length ?? 0
    const length = stem.length - (stem.length - ending < SHORTEST_STEM ? 1 : ending)
    if (ending === 0 || length < SHORTEST_STEM) return stem.slice(0, LONGEST_STEM)
    stem = stem.slice(0, length)
  }
}

export function isDense(word: string): boolean {
  return DENSE_WORD.test(word)
}

/** Returns the index of the first word that begins at or after an offset. */
export function wordAt({ starts }: Words, at: number): number {
  return firstIndex(starts, (start) => start >= at)
}

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
    for (const { start, end } of sentencesIn(text, paragraph)) add(start, end, false)
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
