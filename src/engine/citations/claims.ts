/**
 * Reads an answer: which markers it has, and which of its words each of them speaks for.
 *
 * A marker speaks for the words before it, back to the marker or block before, as far as the last sentence goes. Where a block begins with a
 * marker and ends without one, and where nothing is said before a marker (`According to [1], …`), it speaks for the words after it.
 */

import { patternFor } from '../../util/pattern.ts'
import { sentencesOf } from './sentences.ts'

export interface Range {
  readonly start: number
  readonly end: number
}

/** What one marker, or several that stand together, speak for. Ranges are of the answer. */
export interface Claim {
  readonly markers: readonly string[]
  /** All the words since the marker or block before. */
  readonly whole: Range
  /** The last sentence of them. */
  readonly statement: Range
  /** What is quoted in them, code of the last sentence alone: quotation marks left out, block quotes and code as they are. */
  readonly quotations: readonly Range[]
}

export interface Reading {
  readonly claims: readonly Claim[]
  /** The markers themselves: no words of the answer. */
  readonly markers: readonly Range[]
}

const MARKER = /[[【]{1,2}\^?\d{1,4}(?:[ \t]?[,;–-][ \t]?\^?\d{1,4}){0,50}[\]】]{1,2}/g
const WORD = patternFor(String.raw`[\p{L}\p{N}]`, 'u')
const hasWords = (text: string): boolean => WORD(text).test(text)
/** Markers that a range such as `[1-3]` may stand for. */
const LONGEST_RANGE = 20

interface Quotation extends Range {
  readonly isCode: boolean
}

interface Group extends Range {
  readonly markers: readonly string[]
}

export function readClaims(answer: string): Reading {
  const code = codeRanges(answer)
  const text = masked(answer, code)
  const blocks = blocksOf(text)
  const quotations = quotationsOf(answer, text, blocks, code)
  const groups = groupsOf(text, quotations)
  const claims: Claim[] = []
  let nextQuotation = 0
  let nextGroup = 0
  let above: { readonly block: Range; readonly quotations: readonly Quotation[] } | undefined
  for (const block of blocks) {
    const own: Group[] = []
    for (let group = groups[nextGroup]; group !== undefined && group.start < block.end; group = groups[++nextGroup])
      own.push(group)
    const inside: Quotation[] = []
    for (
      let quoted = quotations[nextQuotation];
      quoted !== undefined && quoted.start < block.end;
      quoted = quotations[++nextQuotation]
    ) {
      inside.push(quoted)
    }
    const alone = above !== undefined && !hasWords(answer.slice(block.start, own[0]?.start ?? block.start))
    const read = claimsOf(
      answer,
      block,
      own,
      alone ? [...(above?.quotations ?? []), ...inside] : inside,
      alone ? above?.block : undefined,
    )
    for (const claim of read) claims.push(claim)
    above = own.length === 0 ? { block, quotations: inside } : undefined
  }
  return { claims, markers: groups }
}

function claimsOf(
  answer: string,
  block: Range,
  groups: readonly Group[],
  quotations: readonly Quotation[],
  above: Range | undefined,
): Claim[] {
  const [first] = groups
  const last = groups.at(-1)
  if (first === undefined || last === undefined) return []
  const says = (start: number, end: number): boolean => hasWords(answer.slice(start, end))
  const claims: Claim[] = []
  // The reference comes first: `[1] The mill was built in 1874.`
  const leading = !says(block.start, first.start) && says(last.end, block.end)
  let quotation = 0
  for (const [index, group] of groups.entries()) {
    const from = groups[index - 1]?.end ?? block.start
    const to = groups[index + 1]?.start ?? block.end
    let whole: Range = leading ? { start: group.end, end: to } : { start: from, end: group.start }
    let statement = leading ? whole : lastSentence(answer, whole, quotations)
    if (!leading && !says(from, group.start) && index === 0 && above !== undefined) {
      // On a line of its own.
      whole = above
      statement = lastSentence(answer, above, [])
    } else if (!leading && isLeadIn(answer, statement, group.end, to)) {
      statement = firstSentence(answer, { start: statement.start, end: to }, group.end)
      whole = statement
    }
    while ((quotations[quotation]?.end ?? Infinity) <= Math.min(from, whole.start)) quotation++
    const own: Range[] = []
    for (let at = quotation; at < quotations.length; at++) {
      const quoted = quotations[at]
      if (quoted === undefined || quoted.start >= whole.end) break
      const start = Math.max(quoted.start, whole.start)
      const end = Math.min(quoted.end, whole.end)
      const isElsewhere = quoted.isCode && (end <= statement.start || start >= statement.end)
      if (!isElsewhere && says(start, end)) own.push({ start, end })
    }
    claims.push({ markers: group.markers, whole, statement, quotations: own })
  }
  return claims
}

const LEAD_IN =
  /(?:^|[\s*_(])(?:according to|as per|per|see|from|in|as|by|source|passage|document|reference|laut|gemäß|siehe|nach|quelle|in quelle|selon|d['’]après|voir|según|根据|參見|参见)\s*[*_(]*$/iu

/** Whether the words before a marker only lead to what stands after it. */
function isLeadIn(answer: string, { start, end }: Range, from: number, to: number): boolean {
  const before = answer.slice(Math.max(start, end - 60), end).trim()
  const after = answer.slice(from, Math.min(to, from + 200))
  if (!hasWords(after) || /^\s*[.!?。！？;](?:\s|$)/u.test(after)) return false
  if (!hasWords(before)) return /^\s*[,:]/.test(after) || start === 0
  return LEAD_IN.test(before)
}

function lastSentence(answer: string, { start, end }: Range, quotations: readonly Range[]): Range {
  let from = start
  for (const sentence of sentencesOf(answer.slice(start, end)).reverse()) {
    const at = start + sentence.start
    // A sentence ends where its quotation ends, not within it.
    if (isWithin(quotations, at)) continue
    from = at
    if (hasWords(answer.slice(at, end))) break
  }
  return { start: from, end }
}

function firstSentence(answer: string, { start, end }: Range, after: number): Range {
  const first = sentencesOf(answer.slice(after, end)).find((sentence) =>
    hasWords(answer.slice(after + sentence.start, after + sentence.end)),
  )
  return { start, end: first === undefined ? end : after + first.end }
}

function isWithin(ranges: readonly Range[], at: number): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.end ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return (ranges[low]?.start ?? Infinity) < at
}

/** Markers outside of code, and outside of quotations that go on after them: those quote a text that has markers itself. */
function groupsOf(text: string, quotations: readonly Range[]): Group[] {
  const groups: { start: number; end: number; markers: string[] }[] = []
  for (const { index: start, 0: marker } of text.matchAll(MARKER)) {
    const end = start + marker.length
    if (isQuoted(text, quotations, start, end)) continue
    const before = groups.at(-1)
    const markers = namesIn(marker)
    if (before !== undefined && start - before.end <= 20 && /^[ \t,;]*$/.test(text.slice(before.end, start))) {
      before.end = end
      before.markers.push(...markers)
    } else groups.push({ start, end, markers })
  }
  return groups.map(({ start, end, markers }) => ({ start, end, markers: [...new Set(markers)] }))
}

function isQuoted(text: string, quotations: readonly Range[], start: number, end: number): boolean {
  if (!isWithin(quotations, start)) return false
  let low = 0
  let high = quotations.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((quotations[middle]?.end ?? 0) <= start) low = middle + 1
    else high = middle
  }
  const around = quotations[low]
  if (around === undefined) return false
  // It is a marker of this answer unless another one follows the quotation.
  return (
    hasWords(text.slice(end, Math.min(around.end, end + 2000))) &&
    /^["'”’“»›」』*_.,;]{0,4}\s{0,3}[[【]\d/.test(text.slice(around.end, around.end + 12))
  )
}

function namesIn(marker: string): string[] {
  const names: string[] = []
  for (const part of marker.replaceAll(/[[\]【】^\s]/g, '').split(/[,;]/)) {
    const [first, last] = part.split(/[–-]/).map(Number)
    if (first === undefined) continue
    if (last === undefined || last <= first || last - first > LONGEST_RANGE) {
      names.push(...part.split(/[–-]/).map((name) => String(Number(name))))
    } else for (let name = first; name <= last; name++) names.push(String(name))
  }
  return names
}

/** Code spans and fences, as CommonMark pairs backticks: a run of them is closed by the next run of the same length. */
function codeRanges(answer: string): Range[] {
  const runs = [...answer.matchAll(/`+|\n[ \t]*\r?\n/g)]
  // For each run the next one of its length in the same paragraph.
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
      // A longer fence closes a shorter one: what lies behind it will never be looked for again by those.
      nextFence[index] = fences.findLast((other) => (runs[other]?.[0].length ?? 0) >= ticks.length)
      while ((runs[fences.at(-1) ?? -1]?.[0].length ?? Infinity) <= ticks.length) fences.pop()
      fences.push(index)
      if (fences.length > LONGEST_RANGE) fences = fences.slice(-LONGEST_RANGE)
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

/** Not by spaces: those would part the words around. */
function masked(answer: string, code: readonly Range[]): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of code) {
    parts.push(answer.slice(from, start), 'x'.repeat(end - start))
    from = end
  }
  parts.push(answer.slice(from))
  return parts.join('')
}

interface Block extends Range {
  readonly isQuote: boolean
}

/** Paragraphs, list items, rows, headings and block quotes, in their order. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let start = 0
  let isQuote = false
  const close = (end: number): void => {
    if (end > start) blocks.push({ start, end, isQuote })
    start = end
  }
  for (const { index, 0: line } of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const head = line.slice(0, 40)
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

/** The outermost quotations of each block, its block quote, and code. Quotation marks within code mean nothing. */
function quotationsOf(answer: string, text: string, blocks: readonly Block[], code: readonly Range[]): Quotation[] {
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
      const head = answer.slice(span.start, span.start + 60)
      const ticks = /^`+/.exec(head)?.[0].length ?? 1
      // The line that opens a fence names its language.
      const opening = ticks < 3 ? ticks : (/^`+[^`\n]*\n/.exec(head)?.[0].length ?? ticks)
      const start = Math.min(span.start + opening, span.end)
      if (!isWithin(own, span.start)) own.push({ start, end: Math.max(start, span.end - ticks), isCode: true })
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
