/** Compares quotations of an answer, and its verbatim statements, with a passage. */

import { fold } from '../text/fold.ts'
import { findAlmost, findExact, listed, piecesOf, rangeOf } from '../text/alignment.ts'
import type { Alignment, Span } from '../text/alignment.ts'
import type { Finding } from './citation.ts'
import { isClosed, wordsOf } from '../text/function-words.ts'
import { windowAt } from './passages.ts'
import type { Library, Passage } from './passages.ts'
import type { Range } from '../util/range.ts'
import type { Statement } from './statements.ts'
import { isDense, wordAt } from '../text/comparable-words.ts'
import type { Words } from '../text/comparable-words.ts'

export interface Quoting {
  /** Words of the answer. */
  readonly said: Words
  readonly statement: Statement
  /** The range to check: the sentence, or all words back to the previous marker. */
  readonly extent: Range
  readonly passage: Passage
  readonly library: Library
}

/** Returns `undefined` without a quotation that decides the verdict. */
export function quotedFinding(quoting: Quoting): Finding | undefined {
  const { said, statement, extent, passage, library } = quoting
  const whole = spanOf(said, extent)
  const exact = standsIn(whole, quoting)
  if (exact !== undefined) return exact
  const quotations = statement.quotations
    .map((range) => ({ ...range, span: spanOf(said, range) }))
    .filter(({ span }) => isLong(said, span))
  for (const { isCode, span } of quotations) {
    if (isCode || standsIn(span, quoting) !== undefined) continue
    const elsewhere = statement.markers.some((marker) => {
      const other = library.passage(marker)
      return other !== undefined && standsIn(span, { ...quoting, passage: other }) !== undefined
    })
    if (elsewhere) continue
    const finding = falseQuotation(span, quoting)
    if (finding !== undefined) return finding
  }
  const carrying = quotations.filter(({ span }) => carries(said, span, whole, quotations, passage))
  for (const { span } of carrying) {
    const found = standsIn(span, quoting)
    if (found !== undefined) return found
  }
  const [elsewhere] = passagesWith(whole, quoting)
  return elsewhere === undefined || !isLong(said, whole) ? undefined : misplacedIn(elsewhere, passage)
}

function spanOf(words: Words, { start, end }: Range): Span {
  return { from: wordAt(words, start), to: wordAt(words, end) }
}

/** Least words of a quotation that is checked by itself; shorter ones are names and terms. */
const FEWEST_QUOTED = 3
const FEWEST_QUOTED_DENSE = 4

function isLong({ words }: Words, { from, to }: Span): boolean {
  return to - from >= (isDense(words[from] ?? '') ? FEWEST_QUOTED_DENSE : FEWEST_QUOTED)
}

/** Finds words in sequence, ignoring ellipses and insertions in square brackets. */
function standsIn(span: Span, { said, passage }: Pick<Quoting, 'said' | 'passage'>): Finding | undefined {
  if (span.to <= span.from) return undefined
  const pieces = piecesOf(said, span)
  let after = 0
  let first: Span | undefined
  for (const piece of pieces) {
    const found = findExact(said, piece, passage, after)
    if (found === undefined || (first !== undefined && hidesDenial(passage, after, found.from))) return undefined
    first ??= found
    after = found.to
  }
  if (first === undefined || (pieces.length === 1 && leavesDenial(passage, first)) || leavesException(passage, after))
    return undefined
  return {
    verdict: 'verified',
    kind: pieces.length > 1 ? 'elided' : 'verbatim',
    range: rangeOf(passage, { from: first.from, to: after }, said, span.from),
  }
}

/** Most words before a place that may negate it, and most words of an ellipsis that are checked. */
const DENIES_WITHIN = 3
const LONGEST_ELLIPSIS = 60

function leavesDenial(passage: Passage, { from }: Span): boolean {
  const window = passage.windows[windowAt(passage, from)]
  return has('not', passage, Math.max(window?.from ?? 0, from - DENIES_WITHIN), from)
}

/** Reports whether the passage continues with an exception. */
function leavesException(passage: Passage, at: number): boolean {
  const to = Math.min(passage.windows[windowAt(passage, at)]?.to ?? at, at + DENIES_WITHIN)
  const gap = passage.text.slice(passage.ends[at - 1], passage.starts[at])
  return !/[.!?;。！？；\n]/.test(gap) && has('except', passage, at, to)
}

function hidesDenial(passage: Passage, from: number, to: number): boolean {
  return to - from > LONGEST_ELLIPSIS || has('not', passage, from, to)
}

function has(name: 'not' | 'except', { words, language }: Passage, from: number, to: number): boolean {
  const known = wordsOf(language, name, fold)
  for (let at = from; at < to; at++) if (known.has(words[at] ?? '')) return true
  return false
}

function passagesWith(span: Span, { said, passage, library, statement }: Quoting): Passage[] {
  return library
    .all()
    .filter(
      (other) =>
        other !== passage &&
        !statement.markers.includes(other.retrieved.marker) &&
        standsIn(span, { said, passage: other }) !== undefined,
    )
}

function misplacedIn({ retrieved }: Passage, { text }: Passage): Finding {
  const reason = `these words are in [${retrieved.marker}]`
  return { verdict: 'contradicted', kind: 'misplaced', reason, foundIn: retrieved.marker, range: { start: 0, end: text.length } }
}

/** Least words of a quotation that is reported as invented. */
const FEWEST_INVENTED = 5
/** Least share of a quotation that one place must hold for it to count as a changed quotation. */
const ALMOST = 0.6

/** Finds a quotation that the passage does not contain: changed, from another passage, or from none. */
function falseQuotation(span: Span, quoting: Quoting): Finding | undefined {
  const { said, passage, library } = quoting
  const [elsewhere] = passagesWith(span, quoting)
  if (elsewhere !== undefined) return misplacedIn(elsewhere, passage)
  const stems = said.keys.slice(span.from, span.to)
  if (stems.every((stem) => passage.context.has(stem))) return undefined
  const almost = findAlmost(said, span, passage)
  if (almost !== undefined && almost.share >= ALMOST) {
    const change = changeIn(said, passage, almost)
    if (change === undefined) return undefined
    const reason = `quotes ${change.said} where the passage has ${change.has}`
    return { verdict: 'contradicted', kind: 'edited', reason, range: rangeOf(passage, almost) }
  }
  const isStrange = stems.some((stem) => passage.places.has(stem) && stem.length > 3)
  const isInvented =
    span.to - span.from >= FEWEST_INVENTED &&
    isStrange &&
    library.all().every((other) => (findAlmost(said, span, other)?.share ?? 0) < ALMOST)
  if (!isInvented) return undefined
  return {
    verdict: 'contradicted',
    kind: 'invented',
    reason: 'this quotation is in none of the passages',
    range: { start: 0, end: passage.text.length },
  }
}

/** Describes a change with both sides. Other forms of a word, and function words, do not count as changes. */
function changeIn(said: Words, passage: Passage, { added, missing }: Alignment): { said: string; has: string } | undefined {
  const changed = (words: Words, others: Words, own: readonly number[], their: readonly number[]): readonly number[] =>
    own.filter(
      (at) => !isGrammar(words.words[at] ?? '', passage) && !their.some((other) => others.keys[other] === words.keys[at]),
    )
  const more = changed(said, passage, added, missing)
  const less = changed(passage, said, missing, added)
  if (more.length === 0 && less.length === 0) return undefined
  return { said: listed(said, more.length === 0 ? added : more), has: listed(passage, less.length === 0 ? missing : less) }
}

function isGrammar(word: string, { language }: Passage): boolean {
  return wordsOf(language, 'grammar', fold).has(word)
}

/** Most words beside a quotation that may introduce it: `The manual says: "…"`. */
const MOST_INTRODUCING = 3

/** Reports whether a quotation is the content of the statement, which otherwise only introduces it. */
function carries(
  said: Words,
  span: Span,
  whole: Span,
  quotations: readonly { readonly span: Span; readonly start: number; readonly isCode: boolean }[],
  { language, context }: Passage,
): boolean {
  const isInside = (at: number): boolean => quotations.some(({ span: { from, to } }) => at >= from && at < to)
  let beside = 0
  for (let at = whole.from; at < whole.to; at++) {
    const word = said.words[at] ?? ''
    if (isInside(at) || context.has(said.keys[at] ?? '')) continue
    if (wordsOf(language, 'not', fold).has(word) || /\p{N}/u.test(word)) return false
    if (!isClosed(word, language, fold)) beside++
  }
  // A block of code begins on its own line.
  const isInline = quotations.some(
    (quotation) => quotation.isCode && quotation.span.from === span.from && said.text[quotation.start - 1] !== '\n',
  )
  return beside <= (isInline ? 1 : MOST_INTRODUCING) && span.to - span.from >= 2 * beside
}
