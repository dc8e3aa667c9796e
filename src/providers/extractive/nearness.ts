/** How close a candidate answer stands to what the question says. */

import type { Candidate } from './candidate.ts'
import type { Question } from './question.ts'
import type { Reading } from './reading.ts'
import { covered } from './share.ts'

/** Words over which the pull of a matching word falls to a third. */
const REACH = 10

/** Weight of the question's terms around a candidate within a range of words, each less the further away it stands; 0 to 1. */
function nearness(
  question: Question,
  { matches }: Pick<Reading, 'matches'>,
  candidate: Candidate,
  from: number,
  to: number,
): number {
  const found = question.terms.map(() => 0)
  for (let i = from; i < to; i++) {
    const match = matches[i]
    if (match === undefined) continue
    const distance = i < candidate.from ? candidate.from - i : Math.max(0, i - candidate.to + 1)
    found[match.term] = Math.max(found[match.term] ?? 0, match.strength * Math.exp(-distance / REACH))
  }
  return covered(question, found)
}

export interface BestCandidate {
  readonly candidate: Candidate | undefined
  /** Strength of the best looking one. */
  readonly look: number
  /** Strength times nearness of the one where that is highest, which is `candidate`. */
  readonly near: number
}

export function bestCandidate(question: Question, reading: Reading, from: number, to: number): BestCandidate {
  let candidate: Candidate | undefined
  let look = 0
  let near = 0
  for (const one of reading.candidates) {
    if (one.from < from || one.to > to) continue
    look = Math.max(look, one.strength)
    const worth = one.strength * nearness(question, reading, one, from, to)
    if (candidate === undefined || worth > near) {
      candidate = one
      near = worth
    }
  }
  return { candidate, look, near }
}
