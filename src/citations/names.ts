/** Finds names and list items of a statement that its passages do not contain. */

import { hasForm, IDENTIFIER, isFirst, isIdentifier, isNameAt, listsIn, LONGEST_MEMBER, raw } from '../text/proper-names.ts'
import { fold } from '../text/fold.ts'
import { isClosed } from '../text/polarity-words.ts'
import type { Claim, Mismatch, Passage } from './passages.ts'
import type { Window } from '../text/windows.ts'
import type { Range } from '../util/range.ts'

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
