/** Statements in words of their own that another passage bears out and the cited one does not. */

import type { Finding } from './citation.ts'
import type { Claim } from './mismatch.ts'
import { nearest } from './passages.ts'
import type { Library, Passage } from './passages.ts'

/** Share of the weight of a statement that one window of the cited passage may hold, and that one of another passage must hold. */
const NEXT_TO_NOTHING = 0.25
const MOST_OF_IT = 0.65

export function misplacedFinding(claim: Claim, cited: Passage, library: Library): Finding | undefined {
  if (claim.weights.size < 3) return undefined
  const best = Math.max(0, ...claim.near.map(({ share }) => share))
  if (best > NEXT_TO_NOTHING) return undefined
  for (const other of library.all()) {
    if (claim.cited.includes(other)) continue
    const [near] = nearest(other, claim.weights, 1)
    if (near === undefined || near.share < MOST_OF_IT) continue
    const { marker } = other.retrieved
    const reason = `[${marker}] says this, not [${cited.retrieved.marker}]`
    return { verdict: 'contradicted', kind: 'misplaced', reason, foundIn: marker, range: { start: 0, end: cited.text.length } }
  }
  return undefined
}
