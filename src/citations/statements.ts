/**
 * Parses an answer into statements and their markers.
 *
 * A marker refers to the sentence before it, back to the previous marker. It refers to the words after it where it begins a block, or where the words
 * before it only introduce the rest (`According to [1], …`).
 */

import { firstSentenceEnd, hasWords, lastSentence, sentencesIn, trimmed } from '../text/sentences.ts'
import { blocksOf, codeRanges, masked, quotationsOf } from '../text/quoted-ranges.ts'
import type { Block, Quotation } from '../text/quoted-ranges.ts'
import { firstIndex, rangeAround } from '../util/range.ts'
import type { Range } from '../util/range.ts'

/** Ranges refer to the answer. */
export interface Statement {
  readonly markers: readonly string[]
  /** The sentence that the markers refer to, and all words back to the previous marker or block. */
  readonly sentence: Range
  readonly whole: Range
  /** The sentence together with its markers. */
  readonly claim: Range
  /** Quotations and code in the sentence. */
  readonly quotations: readonly Quotation[]
}

export interface ReadAnswer {
  readonly statements: readonly Statement[]
  /** Sentences without a marker, except headings, lines that introduce a list, questions and code. */
  readonly uncited: readonly Range[]
  /** Code and markers: neither contains words that claim anything. */
  readonly code: readonly Range[]
  readonly markers: readonly Range[]
}

/** Most UTF-16 units around a marker that are examined, and of a sentence that can be a statement without a marker; bounds the cost. */
const LONGEST_LEAD_IN = 60
const LONGEST_REST = 200
const FEWEST_WORDS = 3

export function readStatements(answer: string): ReadAnswer {
  const code = codeRanges(answer)
  const text = masked(answer, code)
  const blocks = blocksOf(text)
  const quotations = quotationsOf(answer, text, blocks, code)
  const groups = markerGroups(text, quotations)
  const statements: Statement[] = []
  const uncited: Range[] = []
  let above: Block | undefined
  let next = 0
  for (const block of blocks) {
    const first = next
    while ((groups[next]?.start ?? Infinity) < block.end) next++
    const own = groups.slice(first, next)
    // The markers are on their own line, after the block that they refer to.
    const isAlone =
      own.length > 0 && !hasWords(answer.slice(block.start, own[0]?.start)) && !hasWords(answer.slice(own.at(-1)?.end, block.end))
    const found = statementsOf(answer, block, own, quotations, isAlone ? above : undefined)
    for (const statement of found) statements.push(statement)
    if (isAlone && above !== undefined) uncited.splice(firstIndex(uncited, ({ start }) => start >= (above?.start ?? 0)))
    for (const range of uncitedIn(answer, text, block, found, own)) uncited.push(range)
    above = own.length === 0 ? block : undefined
  }
  return { statements, uncited, code, markers: groups }
}

function statementsOf(
  answer: string,
  block: Range,
  groups: readonly MarkerGroup[],
  quotations: readonly Quotation[],
  above: Range | undefined,
): Statement[] {
  const [first] = groups
  const last = groups.at(-1)
  if (first === undefined || last === undefined) return []
  const says = (start: number, end: number): boolean => hasWords(answer.slice(start, end))
  // Matches a leading marker: `[1] The mill was built in 1874.`
  const isLeading = !says(block.start, first.start) && says(last.end, block.end)
  return groups.map((group, index) => {
    const from = groups[index - 1]?.end ?? block.start
    const to = groups[index + 1]?.start ?? block.end
    let whole: Range = trimmed(answer, isLeading ? { start: group.end, end: to } : { start: from, end: group.start })
    let sentence = isLeading ? whole : lastSentence(answer, whole, quotations)
    if (index === 0 && above !== undefined && !isLeading) {
      whole = trimmed(answer, above)
      sentence = lastSentence(answer, above, quotations)
    } else if (!isLeading && isLeadIn(answer, sentence, group.end, to)) {
      whole = { start: sentence.start, end: firstSentenceEnd(answer, group.end, to) }
      sentence = whole
    }
    const claim = { start: Math.min(sentence.start, group.start), end: Math.max(sentence.end, group.end) }
    return { markers: group.markers, sentence, whole, claim, quotations: within(quotations, sentence) }
  })
}

function within(quotations: readonly Quotation[], { start, end }: Range): Quotation[] {
  const found: Quotation[] = []
  for (let at = firstIndex(quotations, (quotation) => quotation.end > start); at < quotations.length; at++) {
    const quotation = quotations[at]
    if (quotation === undefined || quotation.start >= end) break
    found.push({ ...quotation, start: Math.max(quotation.start, start), end: Math.min(quotation.end, end) })
  }
  return found
}

const LEAD_IN =
  /(?:^|[\s*_(])(?:according to|as per|per|see|from|in|as|by|source|passage|document|reference|laut|gemäß|siehe|nach|quelle|selon|d['’]après|voir|según|根据|參見|参见)\s*[*_(]*$/iu

/** Reports whether the words before a marker only introduce the words after it. */
function isLeadIn(answer: string, { start, end }: Range, from: number, to: number): boolean {
  const before = answer.slice(Math.max(start, end - LONGEST_LEAD_IN), end).trim()
  const after = answer.slice(from, Math.min(to, from + LONGEST_REST))
  if (!hasWords(after) || /^\s*[.!?。！？;](?:\s|$)/u.test(after)) return false
  return hasWords(before) ? LEAD_IN.test(before) : /^\s*[,:]/.test(after) || start === 0
}

function* uncitedIn(
  answer: string,
  text: string,
  block: Block,
  statements: readonly Statement[],
  groups: readonly Range[],
): Generator<Range> {
  if (block.isQuote || /^\s*(?:#{1,6}\s|\|?\s*:?-{3,}|```|~~~)/.test(answer.slice(block.start, block.start + LONGEST_REST)))
    return
  if (groups.length > 0 && statements.some(({ whole }) => whole.start >= block.end || whole.end <= block.start)) return
  for (const range of sentencesIn(answer, block)) {
    const at = firstIndex(statements, ({ claim }) => claim.end > range.start)
    const statement = statements[at]
    if (statement !== undefined && statement.claim.start < range.end) continue
    const words = text.slice(range.start, range.end).trim()
    const isStatement =
      !/[:?：？]\W*$/u.test(words) && !words.startsWith('|') && (words.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= FEWEST_WORDS
    // Masked text is code.
    if (isStatement && !/^[x\s]*$/.test(words)) yield trimmed(answer, range)
  }
}

/** A group of adjacent markers. */
export interface MarkerGroup extends Range {
  readonly markers: readonly string[]
}

const MARKER = /[[【]{1,2}\^?\d{1,4}(?:[ \t]?[,;–-][ \t]?\^?\d{1,4}){0,50}[\]】]{1,2}/g
/** Most markers that a range such as `[1-3]` may expand to. */
const LONGEST_RANGE = 20
/** Most UTF-16 units between two adjacent markers. */
const LONGEST_GAP = 20
/** Most UTF-16 units searched for words after a marker; bounds the cost. */
const LONGEST_SCAN = 2000

/** Returns markers outside of code, and outside of quotations that continue after them, because those quote a text with its own markers. */
function markerGroups(text: string, quotations: readonly Range[]): MarkerGroup[] {
  const groups: { start: number; end: number; markers: string[] }[] = []
  for (const { index: start, 0: marker } of text.matchAll(MARKER)) {
    const end = start + marker.length
    if (isQuoted(text, quotations, start, end)) continue
    const before = groups.at(-1)
    const markers = namesIn(marker)
    if (before !== undefined && start - before.end <= LONGEST_GAP && /^[ \t,;]*$/.test(text.slice(before.end, start))) {
      before.end = end
      before.markers.push(...markers)
    } else groups.push({ start, end, markers })
  }
  return groups.map(({ start, end, markers }) => ({ start, end, markers: [...new Set(markers)] }))
}

function isQuoted(text: string, quotations: readonly Range[], start: number, end: number): boolean {
  const around = rangeAround(quotations, start)
  // The marker belongs to this answer unless another marker follows the quotation.
  return (
    around !== undefined &&
    hasWords(text.slice(end, Math.min(around.end, end + LONGEST_SCAN))) &&
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
