/** Matches the terms of a question with the sentences and headings of passages. */

import { Analyzer } from '../../text/analyzer.ts'
import { sentencesIn } from '../../text/sentences.ts'
import { isCodeName } from '../../util/code-extensions.ts'
import { linesOf } from '../../util/lines.ts'
import type { Passage, Piece, Section } from './passage.ts'
import type { Range } from '../../util/range.ts'
import type { Question } from './question.ts'
import { readCode, readRows } from './read-code.ts'
import { readMarkdown } from './read-markdown.ts'

/** How well each term of the question is matched, 0 to 1. */
export type Strengths = Float64Array

export interface Sentence extends Range {
  readonly strengths: Strengths
  /** For each term, whether the next term of the question follows it closely. */
  readonly pairs: Strengths
}

export interface MatchedPiece {
  readonly piece: Piece
  readonly sentences: readonly Sentence[]
  /** The best values of all its sentences. */
  readonly strengths: Strengths
}

export interface Reading {
  readonly passage: Passage
  readonly pieces: readonly MatchedPiece[]
  /** How well title, headings and text of the whole passage match each term. */
  readonly whole: Strengths
  /** The same for the innermost heading of a section, and for title and all headings. */
  heading(section: Section): Strengths
  path(section: Section): Strengths
  /** Share of the terms of the innermost heading that the question has. */
  headingSaid(section: Section): number
}

/** Strength of a word that is spelt almost like a term, or shares its beginning. */
const ALIKE = 0.6
/** Most terms between two that still count as adjacent. */
const NEAR = 2

const analyzer = new Analyzer()

export class Matcher {
  readonly #terms: readonly string[]
  readonly #weights: readonly number[]
  readonly #literals: readonly (readonly [term: number, pattern: RegExp])[]
  readonly #known = new Map<string, readonly [term: number, strength: number] | undefined>()

  constructor({ terms }: Question) {
    this.#terms = terms.map(({ term }) => term)
    this.#weights = terms.map(({ weight }) => weight)
    this.#literals = terms.flatMap(({ term, literal }, at) => (literal === true ? [[at, literally(term)] as const] : []))
    terms.forEach(({ term, literal }, at) => literal === true || this.#known.set(term, [at, 1]))
  }

  read(passage: Passage): Reading {
    const { text } = passage
    const all = readerOf(passage.source)(passage).map((piece): MatchedPiece => {
      const sentences = Array.from(sentencesOf(text, piece), (range) => this.#sentence(text, range))
      return { piece, sentences, strengths: this.#best(sentences.map(({ strengths }) => strengths)) }
    })
    const share = (strengths: Strengths): number => this.#share(strengths)
    const pieces = nearMatches(withoutLongCode(all, share), share)
    const headings = new Map<string, Strengths>()
    const said = (heading: string): Strengths => {
      const found = headings.get(heading) ?? this.strengths(heading)
      headings.set(heading, found)
      return found
    }
    const paths = new Map<Section, Strengths>()
    const title = this.strengths(passage.title ?? '')
    return {
      passage,
      pieces,
      whole: this.#best([
        title,
        ...(passage.headings ?? []).map(said),
        ...pieces.flatMap(({ piece, strengths }) => [strengths, ...piece.section.headings.map(said)]),
      ]),
      headingSaid: ({ headings: all }) => {
        const terms = analyzer.terms(all.at(-1) ?? passage.title ?? '')
        return terms.length === 0 ? 0 : terms.reduce((sum, term) => sum + (this.#match(term)?.[1] ?? 0), 0) / terms.length
      },
      heading: ({ headings: all }) => said(all.at(-1) ?? ''),
      path: (section) => {
        const found = paths.get(section) ?? this.#best([title, ...[...section.headings, ...(section.columns ?? [])].map(said)])
        paths.set(section, found)
        return found
      },
    }
  }

  strengths(text: string): Strengths {
    return this.#sentence(text, { start: 0, end: text.length }).strengths
  }

  #share(strengths: Strengths): number {
    return strengths.reduce((sum, strength, at) => sum + strength * (this.#weights[at] ?? 0), 0)
  }

  #best(all: readonly Strengths[]): Strengths {
    const best = new Float64Array(this.#terms.length)
    for (const strengths of all) for (let at = 0; at < best.length; at++) best[at] = Math.max(best[at] ?? 0, strengths[at] ?? 0)
    return best
  }

  #sentence(text: string, { start, end }: Range): Sentence {
    const sentence = text.slice(start, end)
    const words = analyzer.terms(sentence)
    const strengths = new Float64Array(this.#terms.length)
    for (const [term, pattern] of this.#literals) if (pattern.test(sentence)) strengths[term] = 1
    const pairs = new Float64Array(this.#terms.length)
    const last = new Map<number, number>()
    words.forEach((word, position) => {
      const match = this.#match(word)
      if (match === undefined) return
      const [term, strength] = match
      strengths[term] = Math.max(strengths[term] ?? 0, strength)
      last.set(term, position)
      const before = last.get(term - 1)
      if (before !== undefined && position - before <= NEAR) pairs[term] = 1
      const after = last.get(term + 1)
      if (after !== undefined && position - after <= NEAR) pairs[term + 1] = 1
    })
    return { start, end, strengths, pairs }
  }

  #match(word: string): readonly [number, number] | undefined {
    if (this.#known.has(word)) return this.#known.get(word)
    const term = this.#terms.findIndex((one) => isAlike(one, word))
    const match = term === -1 ? undefined : ([term, ALIKE] as const)
    this.#known.set(word, match)
    return match
  }
}

/** Reduces a code block too long to show to the lines that cover most of the question. */
function withoutLongCode(pieces: readonly MatchedPiece[], share: (strengths: Strengths) => number): MatchedPiece[] {
  const best = new Map<number, MatchedPiece>()
  for (const piece of pieces) {
    const { kind, block, language } = piece.piece
    if (kind !== 'code' || language === undefined) continue
    const other = best.get(block)
    if (other === undefined || share(piece.strengths) > share(other.strengths)) best.set(block, piece)
  }
  return pieces.filter((piece) => (best.get(piece.piece.block) ?? piece) === piece)
}

/** Matches a term without a letter or a sign of the same kind beside it: `-m` does not match in `--main`. */
function literally(term: string): RegExp {
  const escaped = term.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\w-])${escaped}(?![\w-])`)
}

/** Chooses the reader by the format that the name of the source suggests. */
function readerOf(source: string): (passage: Passage) => Piece[] {
  if (/\.(?:csv|tsv|tab|psv)$/i.test(source)) return readRows
  return isCodeName(source) || /\.jsonl?$/i.test(source) ? readCode : readMarkdown
}

/** Most pieces of one passage that are compared. */
const MOST_PIECES = 300
const BEST_PIECES = 20
const AROUND = 6

/** Reduces a passage as long as a book to the pieces around those that cover most of the question. */
function nearMatches(pieces: readonly MatchedPiece[], share: (strengths: Strengths) => number): readonly MatchedPiece[] {
  if (pieces.length <= MOST_PIECES) return pieces
  const best = pieces
    .map(({ strengths }, at) => ({ at, worth: share(strengths) }))
    .sort((a, b) => b.worth - a.worth || a.at - b.at)
    .slice(0, BEST_PIECES)
  return pieces.filter((_, at) => best.some((one) => Math.abs(one.at - at) <= AROUND))
}

const LONG_ENOUGH = 5
const DIGIT = /\d/

/** Reports inflections and misspellings: `italy` and `italian`, `colour` and `color`. A name with a number has no variants. */
export function isAlike(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (short.length < LONG_ENOUGH || long.length - short.length > 3 || DIGIT.test(a) || DIGIT.test(b)) return false
  let shared = 0
  while (shared < short.length && short[shared] === long[shared]) shared++
  if (shared >= LONG_ENOUGH && shared >= long.length - 3) return true
  // One letter added, removed, replaced or moved.
  let tail = 0
  while (tail < short.length - shared && short.at(-1 - tail) === long.at(-1 - tail)) tail++
  const [left, right] = [short.length - shared - tail, long.length - shared - tail]
  if (left === 2 && right === 2) return short[shared] === long[shared + 1] && short[shared + 1] === long[shared]
  return left <= 1 && right <= 1
}

function* sentencesOf(text: string, piece: Piece): Generator<Range> {
  if (piece.kind === 'row') yield piece
  else if (piece.kind === 'code') {
    for (const line of linesOf(text, piece.start, piece.end, '\n')) {
      if (line.end - line.start > LONG_LINE) yield* sentencesIn(text, line)
      else if (line.end > line.start) yield { start: line.start, end: line.end }
    }
  } else yield* sentencesIn(text, piece)
}

/** Characters from which a line of code counts as text: a long string. */
const LONG_LINE = 200
