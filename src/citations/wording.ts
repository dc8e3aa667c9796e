/** Finds words by which a passage contradicts a statement: names and list items that it lacks, negations, quantifiers, modal words and antonyms. */

import { clashes, clauseOf, isUnspaced, phrase, SENTENCE_PART_END, unspacedClash } from '../text/clauses.ts'
import { fold } from '../text/fold.ts'
import { isClosed } from '../text/function-words.ts'
import { hasForm, IDENTIFIER, isFirst, isIdentifier, isNameAt, listsIn, LONGEST_MEMBER, raw } from '../text/proper-names.ts'
import type { Window } from '../text/comparable-words.ts'
import type { Range } from '../util/range.ts'
import { reasonFor } from './passages.ts'
import type { Claim, Mismatch, Near, Passage } from './passages.ts'

/** Least share of the other words of a statement that a window must hold for a name in it to count as the replaced one. */
const SAME_PLACE = 0.55
/** The same for a name recognised only by its capital letter, which a passage may paraphrase. */
const SAME_PLACE_BY_CAPITAL = 0.8
const FEWEST_MEMBERS = 2

export function nameMismatch(claim: Claim): Mismatch | undefined {
  // Names are translated and transcribed between languages.
  if (claim.cited.length === 0 || claim.cited.some(({ language }) => language !== claim.language)) return undefined
  return addedMember(claim) ?? otherName(claim)
}

/** Reports whether no passage has a word of the claim in any form. */
function isAbsent(claim: Claim, at: number): boolean {
  const [word = '', key = ''] = [claim.words[at], claim.keys[at]]
  if (claim.question.has(key)) return false
  return claim.cited.every(
    (passage) => !passage.places.has(key) && !passage.context.has(key) && (isIdentifier(claim, at) || !hasForm(passage, word)),
  )
}

function isInCode(claim: Claim, at: number): boolean {
  const start = claim.starts[at] ?? 0
  return claim.code.some((range) => range.start <= start && start < range.end)
}

/** Returns a name where the passage has another name. */
function otherName(claim: Claim): Mismatch | undefined {
  // A title capitalises each word.
  if (claim.words.filter((_, at) => /^\p{Lu}/u.test(raw(claim, at))).length > claim.words.length / 2) return undefined
  for (const at of claim.words.keys()) {
    if (
      isInCode(claim, at) ||
      !isNameAt(claim, at, claim.language, isFirst(claim, at)) ||
      isClosed(claim.words[at] ?? '', claim.language, fold) ||
      !isAbsent(claim, at)
    )
      continue
    const absent = new Set(
      claim.keys.filter((_, other) => isAbsent(claim, other) && IDENTIFIER.test(raw(claim, other))).concat(claim.keys[at] ?? ''),
    )
    const sum = (keys: Iterable<string>): number => [...keys].reduce((all, key) => all + (claim.weights.get(key) ?? 0), 0)
    const total = sum(claim.weights.keys())
    const least = isIdentifier(claim, at) ? SAME_PLACE : SAME_PLACE_BY_CAPITAL
    const near = claim.near.find(({ share }) => share * total >= least * (total - sum(absent)))
    if (near === undefined) continue
    const other = nameIn(near.passage, near.window, claim)
    if (other === undefined) continue
    const { starts, ends } = near.passage
    return {
      kind: 'name',
      reason: `says “${raw(claim, at)}”, which the passage does not have; it has “${raw(near.passage, other)}”`,
      passage: near.passage,
      range: { start: starts[other] ?? 0, end: ends[other] ?? 0 },
    }
  }
  return undefined
}

function nameIn(passage: Passage, { from, to }: Window, claim: Claim): number | undefined {
  for (let at = from; at < to; at++)
    if (
      isNameAt(passage, at, passage.language, at === from || isFirst(passage, at)) &&
      !claim.weights.has(passage.keys[at] ?? '') &&
      !isClosed(passage.words[at] ?? '', passage.language, fold)
    )
      return at
  return undefined
}

/** Most words between the items of a list in a passage. */
const LONGEST_LIST = 60

/** Returns a list item that the passage does not contain, while it has the other items together. */
function addedMember(claim: Claim): Mismatch | undefined {
  for (const list of listsIn(claim)) {
    const items = list.map(({ from, to }) =>
      Array.from({ length: to - from }, (_, at) => from + at).filter((at) => claim.weights.has(claim.keys[at] ?? '')),
    )
    const isNamed = (at: number): boolean => isNameAt(claim, at, claim.language, isFirst(claim, at)) || isInCode(claim, at)
    const absent = items.filter((item) => item.some((at) => isNamed(at) && isAbsent(claim, at)))
    const [extra] = absent
    const present = items.filter((item) => item.some((at) => !isAbsent(claim, at)) && !absent.includes(item))
    if (extra === undefined || absent.length > 1 || present.length < FEWEST_MEMBERS) continue
    for (const passage of claim.cited) {
      const range = togetherIn(claim, passage, present)
      const said = claim.text.slice(claim.starts[extra[0] ?? 0], claim.ends[extra.at(-1) ?? 0])
      if (range !== undefined)
        return { kind: 'name', reason: `lists “${said}”, which the list of the passage does not have`, passage, range }
    }
  }
  return undefined
}

/** Returns the place where a passage has a word of each item within one list. */
function togetherIn(
  claim: Claim,
  { keys, places, starts, ends }: Passage,
  items: readonly (readonly number[])[],
): Range | undefined {
  const placesOf = (item: readonly number[]): readonly number[] =>
    item.flatMap((at) => places.get(claim.keys[at] ?? '')?.slice(0, LONGEST_LIST) ?? [])
  const [first = [], ...others] = items.map(placesOf)
  for (const from of first) {
    const to = Math.min(keys.length, from + LONGEST_LIST)
    const found = others.map((other) => other.find((at) => at >= from - LONGEST_MEMBER && at < to))
    if (found.every((at) => at !== undefined))
      return { start: starts[from] ?? 0, end: ends[Math.max(from, ...found.map((at) => at ?? 0))] ?? 0 }
  }
  return undefined
}

/** Least share of the weight of a statement's clause that the passage's clause must hold; the second value is for scripts without spaces. */
const SAME_CLAUSE = 0.5
const SAME_UNSPACED = 0.5
const FEWEST_COMMON = 2
/** Least share of a statement that a window must hold to be compared, and most windows compared. */
const NEAR_ENOUGH = 0.25
const MOST_READ = 3
const CLAUSE_END = /[;:.!?–—,(]/

/**
 * Returns a negation, quantifier, modal word or antonym that contradicts the statement. Each is compared together with its target: two clauses must
 * share most of their other words, and differ in that word.
 */
export function polarityMismatch(claim: Claim): Mismatch | undefined {
  const near = claim.near
    .filter(({ passage, share }) => passage.language === claim.language && share >= NEAR_ENOUGH)
    .slice(0, MOST_READ)
  for (const window of near) {
    const found = isUnspaced(claim.language) ? unspacedMismatch(claim, window) : spacedMismatch(claim, window)
    if (found !== undefined) return found
  }
  return undefined
}

function spacedMismatch(claim: Claim, near: Near): Mismatch | undefined {
  for (const clash of clashes(claim, near.passage, near.window, claim.language)) {
    if (!isSameClause(claim, clash.own, near, clash.their)) continue
    const { passage, window } = near
    const has = clash.has ?? phrase(passage, clash.their)
    return { kind: clash.kind, reason: reasonFor(phrase(claim, clash.own), has), passage, range: window }
  }
  return undefined
}

/** Reports whether two clauses share most of their words, apart from the clashing words. */
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

function unspacedMismatch(claim: Claim, { passage, window, share }: Near): Mismatch | undefined {
  if (share < SAME_UNSPACED) return undefined
  const clash = unspacedClash(claim.text, passage.text.slice(window.start, window.end), claim.language)
  return clash === undefined ? undefined : { kind: clash.kind, reason: reasonFor(clash.said, clash.has), passage, range: window }
}
