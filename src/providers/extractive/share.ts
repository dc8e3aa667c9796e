/** How much of a question a stretch of a passage says, measured in the weight of the question's terms. */

import { ALL_PARTS } from './matching.ts'
import type { Match } from './matching.ts'
import type { Question, Term } from './question.ts'

/** The words of a passage, by what of the question they say. */
interface Matched {
  readonly matches: readonly (Match | undefined)[]
}

/** For each term how well a range of words says it, 0 to 1. */
export function strengths(question: Question, { matches }: Matched, from: number, to: number): number[] {
  const found = question.terms.map(() => 0)
  const parts = new Map<number, Set<number>>()
  for (let i = from; i < to; i++) {
    const match = matches[i]
    if (match === undefined) continue
    found[match.term] = Math.max(found[match.term] ?? 0, match.strength)
    if (match.part === undefined) continue
    const said = parts.get(match.term)
    if (said === undefined) parts.set(match.term, new Set([match.part]))
    else if (said.add(match.part).size === question.terms[match.term]?.parts.length)
      found[match.term] = Math.max(found[match.term] ?? 0, ALL_PARTS)
  }
  return found
}

export function either(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, index) => Math.max(value, b[index] ?? 0))
}

/** Share of the whole question. */
export function covered(question: Question, found: readonly number[]): number {
  return question.terms.reduce((sum, term, index) => sum + term.weight * (found[index] ?? 0), 0)
}

/** Share of some of its terms; `undefined` when there are none of these. */
export function share(question: Question, found: readonly number[], counts: (term: Term) => boolean): number | undefined {
  let hit = 0
  let all = 0
  question.terms.forEach((term, index) => {
    if (!counts(term)) return
    all += term.weight
    hit += term.weight * (found[index] ?? 0)
  })
  return all > 0 ? hit / all : undefined
}

/** Share, of what `elsewhere` leaves unsaid, that is said here; 0 when it leaves nothing. */
export function uncoveredShare(question: Question, found: readonly number[], elsewhere: readonly number[]): number {
  let hit = 0
  let all = 0
  question.terms.forEach((term, index) => {
    const open = term.weight * (1 - (elsewhere[index] ?? 0))
    all += open
    hit += open * (found[index] ?? 0)
  })
  return all > SMALLEST ? hit / all : 0
}

const SMALLEST = 1e-9

/** Words between two terms at most, for them to count as neighbours. */
const NEIGHBOURS = 3

/** Share of the question's neighbouring terms that stand near each other in a range of words too, by weight. */
export function neighbourPairs({ terms }: Question, { matches }: Matched, from: number, to: number): number {
  const lastSeen = terms.map(() => Number.NEGATIVE_INFINITY)
  const near = new Set<number>()
  for (let i = from; i < to; i++) {
    const match = matches[i]
    if (match === undefined) continue
    lastSeen[match.term] = i
    for (const other of [match.term - 1, match.term + 1]) {
      if (i - (lastSeen[other] ?? Number.NEGATIVE_INFINITY) <= NEIGHBOURS) near.add(Math.min(match.term, other))
    }
  }
  let hit = 0
  let all = 0
  for (let i = 0; i + 1 < terms.length; i++) {
    const weight = (terms[i]?.weight ?? 0) + (terms[i + 1]?.weight ?? 0)
    all += weight
    if (near.has(i)) hit += weight
  }
  return all > 0 ? hit / all : 0
}
