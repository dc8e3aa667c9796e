import { describe, expect, test } from 'vitest'
import { casesOf, passagesOf } from '../../../test/support/citation-cases.ts'
import type { CitationCase } from '../../../test/support/citation-cases.ts'
import { HELD_OUT, TRIED } from '../../../test/support/citation-documents.ts'
import type { Retrieved } from '../../core/message.ts'
import { readCitations } from '../cite.ts'

interface Outcome {
  readonly supported: boolean
  readonly kind: boolean
  readonly place: boolean
}

function outcomeOf({ answer, marker, kinds, foundIn }: CitationCase, passages: readonly Retrieved[]): Outcome {
  const own = readCitations(answer, passages).filter((citation) => citation.marker === marker)
  const worst = own.find(({ supported }) => !supported) ?? own[0]
  return {
    supported: own.length > 0 && own.every(({ supported }) => supported),
    kind: worst?.kind !== undefined && kinds.includes(worst.kind),
    place: foundIn === undefined || worst?.foundIn === foundIn,
  }
}

const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole)

describe.each([
  ['documents it was tried on', TRIED],
  ['documents it had not seen', HELD_OUT],
])('QRY-RAG-022 citations of %s', (title, documents) => {
  const passages = passagesOf(documents)
  const cases = casesOf(documents)
  const judged = cases.map((one) => ({ one, outcome: outcomeOf(one, passages) }))

  test('are flagged with a precision and recall of at least 0.95, over all and in each class', () => {
    const rows = [...new Set(cases.map((one) => one.class))].map((name) => {
      const own = judged.filter(({ one }) => one.class === name)
      const right = own.filter(({ one, outcome }) => one.supported === outcome.supported)
      return { class: name, cases: own.length, right: share(right.length, own.length) }
    })
    const flagged = judged.filter(({ outcome }) => !outcome.supported)
    const wrong = judged.filter(({ one }) => !one.supported)
    const both = flagged.filter(({ one }) => !one.supported).length
    const clean = judged.filter(({ outcome }) => outcome.supported)
    const sound = judged.filter(({ one }) => one.supported)
    const soundToo = clean.filter(({ one }) => one.supported).length
    const kinds = judged.filter(({ one, outcome }) => one.supported === outcome.supported && outcome.kind).length
    const sums = {
      'unsupported: precision': share(both, flagged.length),
      'unsupported: recall': share(both, wrong.length),
      'supported: precision': share(soundToo, clean.length),
      'supported: recall': share(soundToo, sound.length),
      'right kind': share(kinds, judged.length),
    }
    console.log(
      [
        `${title}: ${cases.length} cases`,
        ...rows.map(({ class: name, cases: count, right }) => `  ${right.toFixed(3)}  ${String(count).padStart(4)}  ${name}`),
        ...Object.entries(sums).map(([name, value]) => `  ${value.toFixed(3)}  ${name}`),
      ].join('\n'),
    )
    for (const value of Object.values(sums)) expect(value).toBeGreaterThanOrEqual(0.95)
    // Own words are judged by their words alone: some that are true are flagged.
    expect(rows.filter(({ class: name, right }) => right < (name === 'paraphrase' ? 0.75 : 0.95))).toEqual([])
  })
})
