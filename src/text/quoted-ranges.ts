/** Finds the quotations of an answer: quotation marks, block quotes and code; and its blocks, by the marks of Markdown. */

import { rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'

export interface Quotation extends Range {
  readonly isCode: boolean
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['“', '”'],
  ['„', '“”'],
  ['«', '»'],
  ['»', '«'],
  ['‹', '›'],
  ['「', '」'],
  ['『', '』'],
  ['《', '》'],
  ['"', '"'],
  ['＂', '＂'],
  ['‘', '’'],
  ["'", "'"],
])

/** Units of the line that opens a fence, backticks and language: a bound on the cost. */
const LONGEST_OPENING = 60

/** The outermost quotations of each block, its block quote, and code. Quotation marks within code mean nothing. */
export function quotationsOf(answer: string, text: string, blocks: readonly Block[], code: readonly Range[]): Quotation[] {
  const found: Quotation[] = []
  let nextCode = 0
  for (const block of blocks) {
    const own: Quotation[] = []
    if (block.isQuote) own.push({ start: block.start, end: block.end, isCode: false })
    else {
      let open: { mark: string; at: number } | undefined
      for (const { index, 0: mark } of text.slice(block.start, block.end).matchAll(/[“”„«»‹›「」『』《》"＂‘’']/g)) {
        const at = block.start + index
        if (open === undefined) {
          if (CLOSING.has(mark) && opens(text, mark, at)) open = { mark, at }
        } else if (CLOSING.get(open.mark)?.includes(mark) === true && closes(text, open.mark, at)) {
          own.push({ start: open.at + mark.length, end: at, isCode: false })
          open = undefined
        }
      }
      // A quotation that is never closed ends with its block, unless its mark can have been something else.
      if (open !== undefined && open.mark !== "'" && open.mark !== '‘')
        own.push({ start: open.at + 1, end: block.end, isCode: false })
    }
    for (let span = code[nextCode]; span !== undefined && span.start < block.end; span = code[++nextCode]) {
      const head = answer.slice(span.start, span.start + LONGEST_OPENING)
      const ticks = /^`+/.exec(head)?.[0].length ?? 1
      // The line that opens a fence names its language.
      const opening = ticks < 3 ? ticks : (/^`+[^`\n]*\n/.exec(head)?.[0].length ?? ticks)
      const start = Math.min(span.start + opening, span.end)
      if (rangeAround(own, span.start) === undefined) own.push({ start, end: Math.max(start, span.end - ticks), isCode: true })
    }
    for (const quotation of own.sort((a, b) => a.start - b.start)) found.push(quotation)
  }
  return found
}

function opens(text: string, mark: string, at: number): boolean {
  const before = text[at - 1] ?? ' '
  const after = text[at + 1] ?? ' '
  if (mark === '"' || mark === '＂') return !/[\s\p{Pe}]/u.test(after) && !/\p{N}/u.test(before)
  if (mark === "'" || mark === '‘') return /[\s([:,–—]/.test(before) && /[\p{L}\p{N}]/u.test(after)
  // German quotes point inwards, French ones outwards.
  if (mark === '»') return /[\s(]/.test(before) && !/\s/.test(after)
  return true
}

function closes(text: string, mark: string, at: number): boolean {
  if (mark !== "'" && mark !== '‘') return true
  return !/[\p{L}\p{N}]/u.test(text[at + 1] ?? ' ') && !/\s/.test(text[at - 1] ?? ' ')
}

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
