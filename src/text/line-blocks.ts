/** The blocks of an answer, by the marks of Markdown. */

import type { Range } from '../util/range.ts'

export interface Block extends Range {
  readonly isQuote: boolean
}

/** Units of a line in which the mark of a block stands: a bound on the cost. */
const LONGEST_HEAD = 40

/** Paragraphs, list items, rows, headings and block quotes, in their order. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let start = 0
  let isQuote = false
  const close = (end: number): void => {
    if (end > start) blocks.push({ start, end, isQuote })
    start = end
  }
  for (const { index, 0: line } of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const head = line.slice(0, LONGEST_HEAD)
    const quoted = /^[ \t]{0,8}>/.test(head)
    if (head.trim() === '' && line.trim() === '') {
      close(index)
      start = index + line.length
      isQuote = false
      continue
    }
    const begins = /^[ \t]{0,20}(?:[-*+•][ \t]|\d{1,4}[.)][ \t]|#{1,6}[ \t]|\|)/.test(head) || /^[ \t]*\[\^?\d{1,4}\]/.test(head)
    if (begins || quoted !== isQuote) close(index)
    isQuote = quoted
  }
  close(text.length)
  return blocks
}
