/**
 * Finds negations, quantifiers, modal words and antonyms by which a passage contradicts a statement.
 *
 * Each is compared together with its target: two clauses must share most of their other words, and differ in that word.
 */

import { clashes, clauseOf, isUnspaced, phrase, SENTENCE_PART_END, unspacedClash } from '../text/clauses.ts'
import { reasonFor } from './passages.ts'
import type { Claim, Mismatch, Near } from './passages.ts'

/** Least share of the weight of a statement's clause that the passage's clause must hold; the second value is for scripts without spaces. */
const SAME_CLAUSE = 0.5
const SAME_UNSPACED = 0.5
const FEWEST_COMMON = 2
/** Least share of a statement that a window must hold to be compared, and most windows compared. */
const NEAR_ENOUGH = 0.25
const MOST_READ = 3
const CLAUSE_END = /[;:.!?–—,(]/

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
