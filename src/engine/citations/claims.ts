/**
 * Reads an answer: which markers it has, and which of its words each of them speaks for.
 *
 * A marker speaks for the words before it, back to the marker or block before, as far as the last sentence goes. Where a block begins with a
 * marker and ends without one, and where nothing is said before a marker (`According to [1], …`), it speaks for the words after it.
 */

import { blocksOf } from './blocks.ts'
import { codeRanges, masked } from './code-ranges.ts'
import { hasWords } from './has-words.ts'
import { markerGroups } from './markers.ts'
import type { MarkerGroup } from './markers.ts'
import { quotationsOf } from './quoted-ranges.ts'
import type { Quotation } from './quoted-ranges.ts'
import { rangeAround } from './range.ts'
import type { Range } from './range.ts'
import { sentencesOf } from './sentences.ts'

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

export interface MarkedAnswer {
  readonly claims: readonly Claim[]
  /** The markers themselves: no words of the answer. */
  readonly markers: readonly Range[]
}

export function readClaims(answer: string): MarkedAnswer {
  const code = codeRanges(answer)
  const text = masked(answer, code)
  const blocks = blocksOf(text)
  const quotations = quotationsOf(answer, text, blocks, code)
  const groups = markerGroups(text, quotations)
  const takeGroups = taker(groups)
  const takeQuotations = taker(quotations)
  const claims: Claim[] = []
  let above: { readonly block: Range; readonly quotations: readonly Quotation[] } | undefined
  for (const block of blocks) {
    const own = takeGroups(block.end)
    const inside = takeQuotations(block.end)
    const isAlone = above !== undefined && !hasWords(answer.slice(block.start, own[0]?.start ?? block.start))
    const quoted = isAlone ? [...(above?.quotations ?? []), ...inside] : inside
    for (const claim of claimsOf(answer, block, own, quoted, isAlone ? above?.block : undefined)) claims.push(claim)
    above = own.length === 0 ? { block, quotations: inside } : undefined
  }
  return { claims, markers: groups }
}

/** Each call takes from an ascending list what begins before a place and was not taken yet. */
function taker<T extends Range>(ranges: readonly T[]): (end: number) => T[] {
  let next = 0
  return (end) => {
    const first = next
    while ((ranges[next]?.start ?? Infinity) < end) next++
    return ranges.slice(first, next)
  }
}

/** @param above the block before, where the markers of this one have a line of their own. */
function claimsOf(
  answer: string,
  block: Range,
  groups: readonly MarkerGroup[],
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
/** Units around a marker that are looked at: a bound on the cost. */
const LONGEST_LEAD_IN = 60
const LONGEST_REST = 200

/** Whether the words before a marker only lead to what stands after it. */
function isLeadIn(answer: string, { start, end }: Range, from: number, to: number): boolean {
  const before = answer.slice(Math.max(start, end - LONGEST_LEAD_IN), end).trim()
  const after = answer.slice(from, Math.min(to, from + LONGEST_REST))
  if (!hasWords(after) || /^\s*[.!?。！？;](?:\s|$)/u.test(after)) return false
  if (!hasWords(before)) return /^\s*[,:]/.test(after) || start === 0
  return LEAD_IN.test(before)
}

function lastSentence(answer: string, { start, end }: Range, quotations: readonly Range[]): Range {
  let from = start
  for (const sentence of sentencesOf(answer.slice(start, end)).reverse()) {
    const at = start + sentence.start
    // A sentence ends where its quotation ends, not within it.
    if (rangeAround(quotations, at) !== undefined) continue
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
