/** Finds quoted parts of an answer (code, quotation marks, block quotes), and its Markdown blocks. */

import { rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'

/** Most open fences of decreasing length; bounds the cost. */
const MOST_FENCES = 20

/** Returns code spans and fences, paired as in CommonMark: a run of backticks closes at the next run of the same length. */
export function codeRanges(answer: string): Range[] {
  const runs = [...answer.matchAll(/`+|\n[ \t]*\r?\n/g)]
  // For each run, the next run of its length in the same paragraph.
  const closing: (number | undefined)[] = []
  let latest = new Map<number, number>()
  let fences: number[] = []
  const nextFence: (number | undefined)[] = []
  for (let index = runs.length - 1; index >= 0; index--) {
    const run = runs[index]
    if (run === undefined) continue
    const [ticks] = run
    if (ticks.startsWith('\n')) {
      latest = new Map()
      continue
    }
    closing[index] = latest.get(ticks.length)
    latest.set(ticks.length, index)
    if (ticks.length >= 3 && startsLine(answer, run.index)) {
      // A longer fence closes a shorter one, which needs no further search after it.
      nextFence[index] = fences.findLast((other) => (runs[other]?.[0].length ?? 0) >= ticks.length)
      while ((runs[fences.at(-1) ?? -1]?.[0].length ?? Infinity) <= ticks.length) fences.pop()
      fences.push(index)
      if (fences.length > MOST_FENCES) fences = fences.slice(-MOST_FENCES)
    }
  }
  const ranges: Range[] = []
  for (let index = 0; index < runs.length; index++) {
    const run = runs[index]
    if (run === undefined || run[0].startsWith('\n')) continue
    const isFence = run[0].length >= 3 && startsLine(answer, run.index)
    const close = isFence ? nextFence[index] : closing[index]
    const end = close === undefined ? undefined : runs[close]
    if (end !== undefined) ranges.push({ start: run.index, end: end.index + end[0].length })
    else if (isFence) ranges.push({ start: run.index, end: answer.length })
    if (close !== undefined) index = close
    else if (isFence) break
  }
  return ranges
}

function startsLine(answer: string, at: number): boolean {
  return /(?:^|\n)[ \t>]{0,12}$/.test(answer.slice(Math.max(0, at - 13), at))
}

/** Masks ranges of a text, keeping all offsets. A letter as filler does not separate the words around it, as a space would. */
export function masked(answer: string, code: readonly Range[], filler = 'x'): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of code) {
    parts.push(answer.slice(from, start), filler.repeat(end - start))
    from = end
  }
  parts.push(answer.slice(from))
  return parts.join('')
}

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

/** Most UTF-16 units of a fence's opening line, with backticks and language; bounds the cost. */
const LONGEST_OPENING = 60

/** Returns the outermost quotations of each block, its block quote, and code. Quotation marks within code are ignored. */
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
      // An unclosed quotation ends with its block, unless its mark may be an apostrophe.
      if (open !== undefined && open.mark !== "'" && open.mark !== '‘')
        own.push({ start: open.at + 1, end: block.end, isCode: false })
    }
    for (let span = code[nextCode]; span !== undefined && span.start < block.end; span = code[++nextCode]) {
      const head = answer.slice(span.start, span.start + LONGEST_OPENING)
      const ticks = /^`+/.exec(head)?.[0].length ?? 1
      // Skips the opening line of a fence, which has the language.
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
  // German quotes point inwards, French quotes outwards.
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

/** Most UTF-16 units of a line before its block mark ends; bounds the cost. */
const LONGEST_HEAD = 40

/** Returns paragraphs, list items, rows, headings and block quotes, in order. */
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
