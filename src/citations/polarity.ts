/**
 * Denials, quantifiers, modal words and contraries by which a passage turns round what a statement says.
 *
 * Each is looked for with its target: two clauses must share most of their other words, and differ in that one word.
 */

import { fold } from '../text/fold.ts'
import type { CitationKind } from '../core/citation.ts'
import type { Language } from '../text/language.ts'
import { partsOf, unspacedContraries, wordsOf } from '../text/polarity-words.ts'
import { clauseOf, contraries, denialOf, isLimited, REACH, target } from '../text/clauses.ts'
import type { WordClass } from '../text/polarity-words.ts'
import { reasonFor } from './mismatch.ts'
import type { Claim, Mismatch } from './mismatch.ts'
import type { Near } from './passages.ts'
import type { Words } from '../text/comparable-words.ts'

/** Share of the weight of a statement's clause that the clause of the passage must hold, and the share for scripts without spaces. */
const SAME_CLAUSE = 0.5
const SAME_UNSPACED = 0.5
const FEWEST_COMMON = 2
/** Share of a statement that a window must hold to be read, and how many are read. */
const NEAR_ENOUGH = 0.25
const MOST_READ = 3
const CLAUSE_END = /[;:.!?–—,(]/
const SENTENCE_PART_END = /[;:.!?–—(]/

export function polarityMismatch(claim: Claim): Mismatch | undefined {
  const near = claim.near
    .filter(({ passage, share }) => passage.language === claim.language && share >= NEAR_ENOUGH)
    .slice(0, MOST_READ)
  for (const window of near) {
    const found = partsOf(claim.language, 'not').length > 0 ? unspacedMismatch(claim, window) : spacedMismatch(claim, window)
    if (found !== undefined) return found
  }
  return undefined
}

/** A word of the claim and one of the passage that cannot both hold. */
interface Clash {
  readonly kind: CitationKind
  readonly own: number
  readonly their: number
  /** What is shown of both sides. */
  readonly said?: string
  readonly has?: string
}

function spacedMismatch(claim: Claim, near: Near): Mismatch | undefined {
  for (const clash of clashes(claim, near)) {
    if (!isSameClause(claim, clash.own, near, clash.their)) continue
    const { passage, window } = near
    const said = clash.said ?? phrase(claim, clash.own)
    const has = clash.has ?? phrase(passage, clash.their)
    return { kind: clash.kind, reason: reasonFor(said, has), passage, range: window }
  }
  return undefined
}

function* clashes(claim: Claim, { passage, window }: Near): Generator<Clash> {
  const { language } = claim
  const is = (name: WordClass, words: Words, at: number): boolean => {
    const [known, word = ''] = [wordsOf(language, name, fold), words.words[at]]
    return known.has(word) || known.has(`${word} ${words.words[at + 1] ?? ''}`)
  }
  const theirs = Array.from({ length: window.to - window.from }, (_, at) => window.from + at)
  const ours = [...claim.words.keys()]
  const isDenied = (words: Words, at: number, first: number): boolean => {
    for (let before = at - 1; before >= Math.max(first, at - REACH); before--) {
      if (is('not', words, before)) return true
      if (words.keys[before] !== undefined && claim.weights.has(words.keys[before] ?? '') && before < at - 1) return false
    }
    return false
  }
  const denials = ours.filter((at) => is('not', claim, at))
  // Contraries.
  for (const own of ours) {
    for (const word of contraries(claim.words[own] ?? '', language)) {
      if (claim.words.includes(word)) continue
      for (const their of theirs) {
        if (passage.words[their] !== word || clauseHas(passage, their, claim.words[own] ?? '', window)) continue
        if (isDenied(claim, own, 0) === isDenied(passage, their, window.from)) yield { kind: 'contrary', own, their }
      }
    }
  }
  // A word that the passage denies and the claim does not.
  if (denials.length === 0) {
    for (const own of ours) {
      if (!claim.weights.has(claim.keys[own] ?? '')) continue
      for (const their of theirs) {
        if (passage.keys[their] !== claim.keys[own]) continue
        const denial = denialOf(passage, their, window.from, is)
        if (denial !== undefined && !isLimited(passage, denial, is))
          yield { kind: 'negation', own, their, has: span(passage, denial, their) }
      }
    }
  }
  for (const own of ours) {
    if (is('whole', claim, own) && !ours.some((at) => is('part', claim, at))) {
      for (const their of theirs) {
        if (!is('part', passage, their)) continue
        const isHedged = passage.words[their + 1] === claim.words[own]
        if (isHedged || !theirs.some((at) => is('whole', passage, at)) || target(claim, own) === target(passage, their))
          yield { kind: 'quantifier', own, their }
      }
    }
    if (is('whole', claim, own) && !ours.some((at) => is('except', claim, at) && !is('not', claim, at - 1))) {
      for (const their of theirs)
        if (is('except', passage, their) && !is('not', passage, their - 1)) yield { kind: 'quantifier', own, their }
    }
    if (is('must', claim, own) && !isDenied(claim, own, 0)) {
      for (const their of theirs) {
        if (is('must', passage, their) && isDenied(passage, their, window.from))
          yield { kind: 'modality', own, their, has: phrase(passage, their - 1) }
        else if (
          is('may', passage, their) &&
          !theirs.some((at) => is('must', passage, at)) &&
          target(claim, own) === target(passage, their)
        )
          yield { kind: 'modality', own, their }
      }
    }
  }
}

function clauseHas(words: Words, at: number, word: string, { from, to }: Near['window']): boolean {
  const clause = clauseOf(words, at, SENTENCE_PART_END, from, to)
  return words.words.slice(clause.from, clause.to).includes(word)
}

/** Whether two clauses share most of what they say beside the words that clash. */
function isSameClause(claim: Claim, own: number, { passage, window }: Near, their: number): boolean {
  const clause = clauseOf(claim, own, CLAUSE_END, 0, claim.words.length)
  const place = clauseOf(passage, their, SENTENCE_PART_END, window.from, window.to)
  const there = new Set(passage.keys.slice(place.from, place.to))
  const keys = new Set(
    claim.keys.slice(clause.from, clause.to).filter((key, at) => clause.from + at !== own && claim.weights.has(key)),
  )
  let [total, common, count] = [0, 0, 0]
  for (const key of keys) {
    const weight = claim.weights.get(key) ?? 0
    total += weight
    if (!there.has(key) && !passage.context.has(key) && !claim.question.has(key)) continue
    common += weight
    if (there.has(key)) count++
  }
  return count >= FEWEST_COMMON && common >= SAME_CLAUSE * total
}

function phrase({ text, starts, ends }: Words, at: number): string {
  return text.slice(starts[at], ends[at + 1] ?? ends[at])
}

function span({ text, starts, ends }: Words, from: number, to: number): string {
  return text.slice(starts[from], ends[to])
}

function unspacedMismatch(claim: Claim, { passage, window, share }: Near): Mismatch | undefined {
  if (share < SAME_UNSPACED) return undefined
  const text = passage.text.slice(window.start, window.end)
  const has = (from: string, names: readonly string[]): string | undefined => names.find((name) => from.includes(name))
  const of = (name: 'not' | 'whole' | 'part' | 'must' | 'may'): readonly string[] => partsOf(claim.language, name)
  const made = (kind: CitationKind, said: string, there: string): Mismatch => ({
    kind,
    reason: reasonFor(said, there),
    passage,
    range: window,
  })
  for (const [one = '', other = ''] of unspacedContraries(claim.language).flatMap(([a = '', b = '']) => [
    [a, b],
    [b, a],
  ])) {
    if (claim.text.includes(one) && !claim.text.includes(other) && text.includes(other) && !text.includes(one))
      return made('contrary', one, other)
  }
  const [whole, part] = [has(claim.text, of('whole')), has(text, of('part'))]
  if (
    whole !== undefined &&
    part !== undefined &&
    has(claim.text, of('part')) === undefined &&
    has(text, of('whole')) === undefined
  )
    return made('quantifier', whole, part)
  return undefined
}
