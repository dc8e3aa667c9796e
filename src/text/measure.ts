/** Measures text in words and lines, and finds where long code may be cut. */

import { linesOf } from '../util/lines.ts'
import type { Range } from '../util/range.ts'

/** Lines of code in one piece at most. */
const LINES = 10
/** Lines of a fence that is shown whole. */
const WHOLE = 14
/** Characters of scripts without spaces that are about as long as one word. */
const DENSE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/gu

/** Words as a reader counts them: runs without white space; of scripts without spaces every second character. */
export function countWords(text: string): number {
  let words = 0
  let inside = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isSpace = code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0 || code === 0x3000
    if (!isSpace && !inside) words++
    inside = !isSpace
  }
  return /[\u0e00-\u0eff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]/.test(text)
    ? words + ((text.match(DENSE)?.length ?? 0) >> 1)
    : words
}

export function countLines(text: string, { start, end }: Range): number {
  let lines = 1
  for (let at = text.indexOf('\n', start); at !== -1 && at < end - 1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** Code in pieces of whole lines: all of it where it is short, else cut at blank lines, else after so many lines. */
export function* cutLines(text: string, range: Range): Generator<Range> {
  if (countLines(text, range) <= WHOLE) {
    yield range
    return
  }
  let start = range.start
  let lines = 0
  for (const line of linesOf(text, range.start, range.end, '\n')) {
    const isBlank = text.slice(line.start, line.end).trim() === ''
    if ((isBlank && lines >= LINES / 2) || lines >= LINES) {
      yield { start, end: line.start }
      start = line.start
      lines = 0
    }
    lines++
  }
  if (start < range.end) yield { start, end: range.end }
}
