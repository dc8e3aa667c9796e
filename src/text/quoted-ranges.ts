/** What an answer quotes: by quotation marks, block quotes and code. */

import type { Block } from './line-blocks.ts'
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
