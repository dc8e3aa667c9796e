/** Packs atoms into chunks: as full as the limit allows, cut at the document's own divisions. */

import { BORDER } from './atoms.ts'
import type { Atom } from './atoms.ts'

/** The range of a chunk, and the headings or definitions above all of it. */
export type Passage = Pick<Atom, 'start' | 'end' | 'path'>

/** A passage below this share of the limit is joined with a neighbour that has room. */
const SMALL_SHARE = 0.3
/** Atoms that together stay below this share are merged, which bounds their number for any text. */
const TINY_SHARE = 0.03

/** Yields passages of at most `max` UTF-16 units, unless a single atom is longer. A document that fits is one passage. */
export function* pack(atoms: Iterable<Atom>, max: number): Generator<Passage> {
  const small = max * SMALL_SHARE
  let last: Atom[] | undefined
  for (const section of sections(atoms, max * TINY_SHARE)) {
    for (const group of cutSection(section, max, small)) {
      if (last !== undefined) {
        const fits = endOf(group) - startOf(last) <= max
        if (fits && (sizeOf(last) < small || sizeOf(group) < small)) {
          last.push(...group)
          continue
        }
        yield passage(last)
      }
      last = group
    }
  }
  if (last !== undefined) yield passage(last)
}

function* sections(atoms: Iterable<Atom>, tiny: number): Generator<Atom[]> {
  let section: Atom[] = []
  for (const atom of atoms) {
    if (atom.border >= BORDER.section && section.length > 0) {
      yield section
      section = []
    }
    const before = section.at(-1)
    if (before !== undefined && atom.end - before.start <= tiny && isAlike(before, atom)) {
      section[section.length - 1] = { ...before, end: atom.end }
    } else {
      section.push(atom)
    }
  }
  if (section.length > 0) yield section
}

/** Reports whether two atoms may be merged without losing a useful border or the path of the second. */
function isAlike(a: Atom, b: Atom): boolean {
  return a.isHeading === true ? b.isHeading === true : b.isHeading !== true && a.path === b.path
}

function* cutSection(section: readonly Atom[], max: number, small: number): Generator<Atom[]> {
  const end = endOf(section)
  let from = 0
  while (from < section.length) {
    const to = nextCut(section, from, end, max, small)
    yield section.slice(from, to)
    from = to
  }
}

/** Returns the index of the first atom of the next passage. */
function nextCut(section: readonly Atom[], from: number, end: number, max: number, small: number): number {
  const start = section[from]?.start ?? end
  const rest = end - start
  if (rest <= max) return section.length
  // If a small remainder would be left, the rest is divided evenly instead.
  const target = rest < max + small ? rest / 2 : max
  let best = from + 1
  let bestScore = -Infinity
  for (let index = from + 1; index < section.length; index++) {
    const atom = section[index]
    const size = (section[index - 1]?.end ?? end) - start
    if (atom === undefined || size > max) break
    const score = atom.border - Math.abs(target - size) / max
    if (score >= bestScore) {
      best = index
      bestScore = score
    }
  }
  return best
}

function passage(group: readonly Atom[]): Passage {
  const body = group.filter((atom) => atom.isHeading !== true)
  return { start: startOf(group), end: endOf(group), path: commonPath(body.length > 0 ? body : group) }
}

function commonPath(group: readonly Atom[]): readonly string[] {
  let common = group[0]?.path ?? []
  for (const { path } of group) {
    if (path === common) continue
    let length = 0
    while (length < common.length && common[length] === path[length]) length++
    if (length < common.length) common = common.slice(0, length)
  }
  return common
}

const startOf = (group: readonly Atom[]): number => group[0]?.start ?? 0
const endOf = (group: readonly Atom[]): number => group.at(-1)?.end ?? 0
const sizeOf = (group: readonly Atom[]): number => endOf(group) - startOf(group)
