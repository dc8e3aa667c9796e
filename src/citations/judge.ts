/**
 * Lets a model or a function judge the statements that their passages do not contain word for word.
 *
 * A verdict counts only if a cited passage contains its evidence. Passages are sent to the model as JSON strings, so that their text cannot end the
 * string early.
 */

import type { Citation, ClaimToVerify, ClaimVerdict, Verdict } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import type { Range } from '../util/range.ts'
import { findExact } from '../text/alignment.ts'
import { citationOf } from './citation.ts'
import { readPassage } from './passages.ts'
import { isDense, readWords } from '../text/comparable-words.ts'

/** A statement with the indexes of its citations in the list of all. */
export interface JudgedClaim extends ClaimToVerify {
  readonly citations: readonly number[]
  readonly cited: readonly Retrieved[]
}

/** Returns the statements of the answer that comparing words did not verify, in order. */
export function claimsToJudge(answer: string, citations: readonly Citation[], passages: readonly Retrieved[]): JudgedClaim[] {
  const byMarker = new Map(passages.map((passage) => [passage.marker, passage]))
  const byClaim = Map.groupBy(citations.keys(), (at) => `${citations[at]?.claim.start} ${citations[at]?.claim.end}`)
  return [...byClaim.values()].flatMap((indexes) => {
    const own = indexes.flatMap((at) => citations[at] ?? [])
    const cited = own.flatMap(({ marker }) => byMarker.get(marker) ?? [])
    const [first] = own
    if (first === undefined || cited.length === 0 || own.some(({ verdict }) => verdict === 'verified')) return []
    const statement = answer.slice(first.claim.start, first.claim.end)
    return [{ statement, passages: cited.map(({ chunk }) => chunk.text), citations: indexes, cited }]
  })
}

/** Returns the citations with those verdicts of a judge that have evidence. */
export function withVerdicts(
  citations: readonly Citation[],
  claims: readonly JudgedClaim[],
  verdicts: readonly (ClaimVerdict | undefined)[],
): Citation[] {
  const changed = [...citations]
  for (const [index, { citations: own, cited }] of claims.entries()) {
    const given = verdicts[index]
    if (given === undefined || !Object.hasOwn(JUDGED, given.verdict)) continue
    const { verdict, evidence } = given
    const place = evidence === undefined ? undefined : placeOf(evidence, cited)
    if (evidence !== undefined && place === undefined) continue
    const reason =
      given.reason ?? (verdict === 'contradicted' && evidence !== undefined ? `the passage says “${evidence}”` : undefined)
    for (const at of own) {
      const citation = changed[at]
      const passage = cited.find(({ marker }) => marker === citation?.marker)
      if (citation === undefined || passage === undefined) continue
      const range =
        place?.passage === passage
          ? place.range
          : { start: citation.start - passage.chunk.start, end: citation.end - passage.chunk.start }
      changed[at] = citationOf(passage, citation.claim, {
        verdict,
        kind: 'judged',
        range,
        ...(reason === undefined ? {} : { reason }),
      })
    }
  }
  return changed
}

/** Least words of evidence; fewer occur everywhere and prove nothing. */
const FEWEST_WORDS = 3
const FEWEST_DENSE = 4
const JUDGED: Readonly<Record<Verdict, true>> = { verified: true, contradicted: true, unverified: true }

/** Returns the place of words in one of the passages. */
function placeOf(
  evidence: string,
  cited: readonly Retrieved[],
): { readonly passage: Retrieved; readonly range: Range } | undefined {
  const words = readWords(evidence)
  if (words.words.length < (isDense(words.words[0] ?? '') ? FEWEST_DENSE : FEWEST_WORDS)) return undefined
  for (const passage of cited) {
    const read = readPassage(passage)
    const found = findExact(words, { from: 0, to: words.words.length }, read)
    if (found !== undefined) return { passage, range: { start: read.starts[found.from] ?? 0, end: read.ends[found.to - 1] ?? 0 } }
  }
  return undefined
}
