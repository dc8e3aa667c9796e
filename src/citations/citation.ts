/** Builds the citation of a statement and a marker from a finding. */

import type { Citation, CitationKind, Verdict } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { pageAt } from '../core/store.ts'
import { beginningOf, linesIn } from '../util/lines.ts'
import type { Range } from '../util/range.ts'
import { defined } from '../util/check.ts'

/** The result of checking a statement against the passage of one marker. */
export interface Finding {
  readonly verdict: Verdict
  readonly kind: CitationKind
  readonly reason?: string
  readonly foundIn?: string
  /** Range in the text of the passage. */
  readonly range: Range
}

export function withoutPassage(marker: string, claim: Range): Citation {
  const reason = 'no passage has this number'
  return {
    marker,
    chunkId: '',
    source: '',
    start: 0,
    end: 0,
    quote: '',
    verdict: 'contradicted',
    supported: false,
    kind: 'no-passage',
    reason,
    claim,
  }
}

/** Most UTF-16 units of a reason, which quotes both sides, either of which may be very long. */
const LONGEST_REASON = 300
const SUPPORTED: Readonly<Record<Verdict, boolean | null>> = { verified: true, contradicted: false, unverified: null }

export function citationOf(
  { marker, chunk, alsoIn }: Retrieved,
  claim: Range,
  { verdict, kind, reason, foundIn, range }: Finding,
): Citation {
  const page = pageAt(chunk, range.start)
  return {
    marker,
    chunkId: chunk.id,
    source: chunk.source,
    start: chunk.start + range.start,
    end: chunk.start + range.end,
    quote: chunk.text.slice(range.start, range.end),
    verdict,
    supported: SUPPORTED[verdict],
    kind,
    claim: { start: claim.start, end: claim.end },
    ...(reason === undefined
      ? {}
      : { reason: reason.length > LONGEST_REASON ? `${beginningOf(reason, LONGEST_REASON)}…` : reason }),
    ...(chunk.lines === undefined ? {} : { lines: linesIn(chunk.text, chunk.lines[0], range) }),
    ...defined({ page, alsoIn, foundIn }),
  }
}
