/**
 * Reads the citations of an answer and checks each against the passage that it names.
 *
 * A marker like `[2]` speaks for the words before it, back to the previous marker, line or sentence. Words in quotation marks must stand
 * in the passage word for word. Other words may be the model's own: then the passage must hold their numbers and most of their content
 * words, in one place. What does not hold is kept and flagged.
 */

import type { Citation } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { locate } from './locate.ts'
import type { Range } from './locate.ts'

const MARKERS = /(?:\s*\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\])+/g
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g

export function readCitations(answer: string, passages: readonly Retrieved[]): Citation[] {
  if (passages.length === 0) return []
  const byMarker = new Map(passages.map((passage) => [passage.marker, passage]))
  // Not by spaces: those would become part of the markers after them.
  const text = answer.replace(CODE, (code) => 'x'.repeat(code.length))
  const citations = new Map<string, Citation>()
  let claimFrom = 0
  for (const run of text.matchAll(MARKERS)) {
    const claim = answer.slice(claimFrom, run.index)
    claimFrom = run.index + run[0].length
    for (const [marker] of run[0].matchAll(/\d+/g)) {
      for (const citation of check(claim, marker, byMarker.get(marker))) {
        citations.set(`${marker}:${citation.start}:${citation.end}:${citation.quote}`, citation)
      }
    }
  }
  return [...citations.values()]
}

/** What one marker claims: each quotation in it, or else the statement as a whole. */
function check(claim: string, marker: string, passage: Retrieved | undefined): Citation[] {
  if (passage === undefined) {
    return [{ marker, chunkId: '', source: '', start: 0, end: 0, quote: lastStatement(claim), supported: false }]
  }
  const { text } = passage.chunk
  const block = locate(stripMarkup(lastBlock(claim)), text)
  if (block !== undefined) return [cited(marker, passage, block)]
  const statement = lastStatement(claim)
  const whole = locate(statement, text)
  if (whole !== undefined) return [cited(marker, passage, whole)]

  const quotations = quotationsIn(lastBlock(claim))
  if (quotations.length > 0) {
    return quotations.map((quotation) => {
      const range = locate(quotation, text)
      return range === undefined ? unsupported(marker, passage, quotation) : cited(marker, passage, range)
    })
  }
  const support = supportingSentence(statement, text)
  return [support === undefined ? unsupported(marker, passage, statement) : cited(marker, passage, support)]
}

function cited(marker: string, { chunk }: Retrieved, range: Range): Citation {
  return {
    marker,
    chunkId: chunk.id,
    source: chunk.source,
    start: chunk.start + range.start,
    end: chunk.start + range.end,
    quote: chunk.text.slice(range.start, range.end),
    supported: true,
    ...linesOf(chunk, range),
  }
}

function unsupported(marker: string, { chunk }: Retrieved, quote: string): Citation {
  return {
    marker,
    chunkId: chunk.id,
    source: chunk.source,
    start: chunk.start,
    end: chunk.end,
    quote,
    supported: false,
    ...(chunk.lines === undefined ? {} : { lines: chunk.lines }),
  }
}

function linesOf(chunk: Retrieved['chunk'], range: Range): { lines?: readonly [number, number] } {
  if (chunk.lines === undefined) return {}
  const first = chunk.lines[0] + countLines(chunk.text.slice(0, range.start))
  return { lines: [first, first + countLines(chunk.text.slice(range.start, range.end))] }
}

function countLines(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1
}

/** The paragraph, list item or table row that the marker ends. */
function lastBlock(claim: string): string {
  const lines = claim.trimEnd().split(/\n\s*\n|\n(?=\s*(?:[-*+>]|\d+[.)])\s)/)
  return lines.at(-1) ?? ''
}

let segmenter: Intl.Segmenter | undefined

/** Its data takes longer to load than most answers to check, and an answer that quotes does not need it. */
function sentencesOf(text: string): Intl.SegmentData[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' })
  return [...segmenter.segment(text)]
}

function lastStatement(claim: string): string {
  const sentences = sentencesOf(stripMarkup(lastBlock(claim)))
    .map(({ segment }) => segment.trim())
    .filter((segment) => /[\p{L}\p{N}]/u.test(segment))
  return sentences.at(-1) ?? ''
}

/** Without list bullets, quote signs and emphasis. */
function stripMarkup(block: string): string {
  return block
    .replace(/^\s*(?:>\s*|[-*+]\s+|\d+[.)]\s+|#{1,6}\s+)+/, '')
    .replace(/(\*\*|__)(.+?)\1/g, '$2')
    .replace(/^(`+)([^`]+)\1$/, '$2')
    .trim()
}

/** What stands in quotation marks, of three words or more: shorter ones are names and terms. */
function quotationsIn(text: string): string[] {
  return [...text.matchAll(/“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|"([^"]+)"/g)]
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim())
    .filter((quotation) => wordsOf(quotation).length >= 3)
}

const SUPPORT = 0.6
/** Below this many content words, agreement says nothing. */
const FEW_WORDS = 2

/** The sentence, with its successor where needed, that holds all numbers and most content words of a statement. */
function supportingSentence(statement: string, text: string): Range | undefined {
  const words = new Set(wordsOf(statement).filter(isContent))
  if (words.size < FEW_WORDS) return undefined
  const numbers = [...words].filter((word) => /\d/.test(word))
  let best: { range: Range; share: number } | undefined
  const sentences = sentencesOf(text)
  for (const [index, { segment, index: start }] of sentences.entries()) {
    const end = start + segment.length
    const next = sentences[index + 1]
    for (const range of [{ start, end }, ...(next === undefined ? [] : [{ start, end: next.index + next.segment.length }])]) {
      const found = new Set(wordsOf(text.slice(range.start, range.end)))
      if (numbers.some((number) => !found.has(number))) continue
      const share = [...words].filter((word) => found.has(word)).length / words.size
      const better = best === undefined || share > best.share || (share === best.share && lengthOf(range) < lengthOf(best.range))
      if (share >= SUPPORT && better) best = { range: trimmed(text, range), share }
    }
  }
  return best?.range
}

function lengthOf({ start, end }: Range): number {
  return end - start
}

function trimmed(text: string, { start, end }: Range): Range {
  const slice = text.slice(start, end)
  return { start: start + slice.length - slice.trimStart().length, end: end - slice.length + slice.trimEnd().length }
}

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/\p{N}+(?:[.,]\p{N}+)*|\p{L}[\p{L}\p{M}'’-]*/gu) ?? []
  )
}

function isContent(word: string): boolean {
  return /\d/.test(word) || word.length > 3 || /[^\p{Script=Latin}'’-]/u.test(word)
}
