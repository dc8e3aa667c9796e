/** Lays a quotation beside the place it is closest to, and tells what differs. */

import type { Run } from './automaton.ts'
import { foldedWords } from './comparison.ts'
import type { PassageText, Place, Words } from './comparison.ts'
import { denialAt } from './lexicon.ts'
import { isNumber } from './tokens.ts'

/** Words of the answer that stand where the passage has others; either side may be empty. */
export interface Difference {
  readonly said: Place
  readonly source: Place
}

export interface Alignment {
  readonly differences: readonly Difference[]
  /** What was laid side by side. */
  readonly said: Place
  readonly source: Place
}

/** Words looked ahead on each side to get back into step. */
const LOOK_AHEAD = 8

/** Grows a run to both sides. Its cost depends on the length of the quotation alone. */
export function align(answer: Words, passage: PassageText, { from, to }: Place, anchor: Run): Alignment {
  const right = grow(answer.ids, passage.ids, anchor.to, anchor.first + anchor.to - anchor.from, to, 1)
  const left = grow(answer.ids, passage.ids, anchor.from - 1, anchor.first - 1, from - 1, -1)
  const said = { from: left.said + 1, to: right.said }
  const source = { from: left.source + 1, to: right.source }
  const before = joinedEnd(answer, passage, { from, to: said.from }, source.from, -1)
  const after = joinedEnd(answer, passage, { from: said.to, to }, source.to, 1)
  return {
    differences: [
      ...before,
      ...left.differences.map((difference) => ({
        said: { from: difference.said.to + 1, to: difference.said.from + 1 },
        source: { from: difference.source.to + 1, to: difference.source.from + 1 },
      })),
      ...right.differences,
      ...after,
    ],
    said: { from: before[0]?.said.from ?? said.from, to: after[0]?.said.to ?? said.to },
    source: { from: before[0]?.source.from ?? source.from, to: after[0]?.source.to ?? source.to },
  }
}

/** Words that one end is parted into. */
const PARTS = 4

/** The words left over at an end, where the passage has the same letters otherwise parted: `[t]he`. */
function joinedEnd(answer: Words, passage: PassageText, left: Place, at: number, step: 1 | -1): Difference[] {
  const size = left.to - left.from
  if (size === 0 || size > PARTS) return []
  const letters = foldedWords(answer, left.from, left.to).join('')
  for (let count = 1; count <= PARTS; count++) {
    const source = step === 1 ? { from: at, to: at + count } : { from: at - count, to: at }
    if (source.from < 0 || source.to > passage.ids.length) return []
    if (foldedWords(passage, source.from, source.to).join('') === letters) return [{ said: left, source }]
  }
  return []
}

/** Words at the end of a copy, or at its beginning, up to which it agrees. */
const SHORT_END = 3

/** What a copy that agrees otherwise begins or ends with instead. */
export function changedEnds({ text, starts, ends }: Words, passage: PassageText, said: Place, near: Alignment): Difference[] {
  const changed: Difference[] = []
  const before = near.said.from - said.from
  const after = said.to - near.said.to
  // `Luckily, the mill was built in 1874`: a remark on the sentence, not a part of it.
  const isRemark = text.slice(ends[near.said.from - 1], starts[near.said.from]).includes(',')
  if (before > 0 && before <= SHORT_END && !isRemark) {
    const from = Math.max(0, near.source.from - before)
    changed.push({ said: { from: said.from, to: near.said.from }, source: { from, to: near.source.from } })
  }
  if (after > 0 && after <= SHORT_END) {
    const to = Math.min(passage.ids.length, near.source.to + after)
    changed.push({ said: { from: near.said.to, to: said.to }, source: { from: near.source.to, to } })
  }
  return changed
}

function grow(
  answer: readonly number[],
  passage: readonly number[],
  said: number,
  source: number,
  end: number,
  step: 1 | -1,
): { readonly differences: Difference[]; readonly said: number; readonly source: number } {
  const differences: Difference[] = []
  const agree = (a: number, b: number): boolean => a !== end && answer[a] !== undefined && answer[a] === passage[b]
  for (;;) {
    while (agree(said, source)) {
      said += step
      source += step
    }
    if (said === end) return { differences, said, source }
    const jump = nextAgreement(said, source, end, step, agree)
    if (jump === undefined) return { differences, said, source }
    differences.push({ said: { from: said, to: said + jump[0] * step }, source: { from: source, to: source + jump[1] * step } })
    said += jump[0] * step
    source += jump[1] * step
  }
}

/** The nearest pair of places from which two words agree, or the last one. */
function nextAgreement(
  said: number,
  source: number,
  end: number,
  step: 1 | -1,
  agree: (a: number, b: number) => boolean,
): readonly [number, number] | undefined {
  for (let sum = 1; sum <= LOOK_AHEAD; sum++) {
    for (let ahead = 0; ahead <= sum; ahead++) {
      const a = said + ahead * step
      const b = source + (sum - ahead) * step
      if ((end - a) * step <= 0) break
      if (agree(a, b) && (a + step === end || agree(a + step, b + step))) return [ahead, sum - ahead]
    }
  }
  return undefined
}

/** Words that an editor may have put others for in brackets: `[the mill]` for `it`, or for a name of a few words. */
const LONGEST_EDITED = 4

/** Whether only the way of writing differs, or what editors put in brackets and texts have for the eye. */
export function isHarmless(answer: Words, passage: PassageText, { said, source }: Difference): boolean {
  const quoted = foldedWords(answer, said.from, said.to)
  const given = foldedWords(passage, source.from, source.to)
  if (quoted.join('') === given.join('')) return !isNumber(quoted[0] ?? '') || sameGroups(quoted) || sameGroups(given)
  if (said.from === said.to && source.to > source.from) return isOrnament(passage, source)
  return isEditorial(answer, said) && source.to - source.from <= LONGEST_EDITED && !isWeighty(quoted) && !isWeighty(given)
}

/** Parted digits are one number where they are parted by thousands. */
function sameGroups(words: readonly string[]): boolean {
  return words.length > 1 && words.every((word, at) => (at === 0 ? /^\d{1,3}$/ : /^\d{3}(?:[.,]\d+)?$/).test(word))
}

function isWeighty(words: readonly string[]): boolean {
  return words.some((word, at) => isNumber(word) || denialAt(words, at) === 'strong')
}

/** `[the mill]`, `[sic]`, `[t]he`. */
function isEditorial({ text, starts, ends }: Words, { from, to }: Place): boolean {
  const before = text.slice((starts[from] ?? 1) - 1, starts[from])
  const after = text.slice(ends[to - 1], (ends[to - 1] ?? 0) + 1)
  return to > from && before === '[' && after === ']'
}

/** UTF-16 units; the address of a link may be long. A bound on the cost. */
const LONGEST_ORNAMENT = 600

/** Footnote marks, the addresses of links, tags. */
function isOrnament({ text, starts, ends }: PassageText, { from, to }: Place): boolean {
  const around = text.slice(ends[from - 1] ?? 0, starts[to] ?? text.length)
  if (around.length > LONGEST_ORNAMENT) return false
  return (
    /^[^\p{L}\p{N}]{0,10}(?:\[\^?\d{1,4}(?:[,;–-]\s?\d{1,4})*\]\s*)+[^\p{L}\p{N}]{0,10}$/u.test(around) ||
    /^[^\p{L}\p{N}]{0,10}\]\([^()\s]{0,400}(?:\([^()\s]{0,100}\))?[^()\s]{0,100}\)[^\p{L}\p{N}]{0,10}$/u.test(around) ||
    /^[^\p{L}\p{N}<]{0,10}(?:<\/?[a-zA-Z][^<>]{0,200}>[^\p{L}\p{N}<]{0,10})+$/u.test(around)
  )
}
