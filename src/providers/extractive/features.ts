/** What speaks for a window being the answer: numbers between about 0 and 1, each with one meaning. */

import { findCandidates } from './candidates.ts'
import type { Candidate } from './candidates.ts'
import type { Passage } from './passage.ts'
import { termMatcher } from './matching.ts'
import type { Match } from './matching.ts'
import type { Question } from './question.ts'
import { readUnits } from './sentences.ts'
import type { Unit } from './sentences.ts'
import { readWindows } from './windows.ts'
import type { Window } from './windows.ts'
import { readWords } from './words.ts'
import type { Word } from './words.ts'

export const FEATURES = [
  'overlap',
  'context',
  'titled',
  'pairs',
  'passageScore',
  'passageCoverage',
  'candidate',
  'near',
  'focus',
  'opening',
  'length',
  'cutHead',
  'cutTail',
  'pronoun',
  'rest',
  'compact',
  'carry',
  'specific',
  'rank',
  'answerNear',
] as const
export type Feature = (typeof FEATURES)[number]
export type FeatureVector = Readonly<Record<Feature, number>>

export interface ReadPassage {
  readonly passage: Passage
  readonly units: readonly Unit[]
  readonly words: readonly Word[]
  readonly matches: readonly (Match | undefined)[]
  readonly candidates: readonly Candidate[]
  readonly windows: readonly Window[]
  /** Strength with which the title and the headings match each term. */
  readonly titleMatches: readonly number[]
}

export interface Scored {
  readonly read: ReadPassage
  readonly window: Window
  readonly features: FeatureVector
}

export function readPassages(question: Question, passages: readonly Passage[], limit: number): ReadPassage[] {
  const match = termMatcher(question)
  return passages.map((passage) => {
    const words = readWords(passage.text)
    const units = readUnits(passage.text)
    const titleMatches = question.terms.map(() => 0)
    for (const word of readWords([passage.title ?? '', ...(passage.headings ?? [])].join('\n'))) {
      const found = match(word)
      if (found !== undefined) titleMatches[found.term] = Math.max(titleMatches[found.term] ?? 0, found.strength)
    }
    return {
      passage,
      units,
      words,
      titleMatches,
      matches: words.map(match),
      candidates: findCandidates(question, passage.text, words),
      windows: readWindows(passage.text, units, limit),
    }
  })
}

export function scoreFeatures(question: Question, reads: readonly ReadPassage[], limit: number): Scored[] {
  const best = Math.max(...reads.map((read) => read.passage.score), Number.MIN_VALUE)
  return reads.flatMap((read, rank) =>
    read.windows.map((window) => ({ read, window, features: features(question, read, window, rank, best, limit) })),
  )
}

function features(
  question: Question,
  read: ReadPassage,
  window: Window,
  rank: number,
  bestScore: number,
  limit: number,
): FeatureVector {
  const [from, to] = wordRange(read.words, window.start, window.end)
  const inside = strengths(question, read, from, to)
  const beforeUnit = read.units[window.first - 1]
  const [beforeFrom] = beforeUnit === undefined ? [from] : wordRange(read.words, beforeUnit.start, beforeUnit.end)
  const [cutFrom, cutTo] = window.cut
    ? wordRange(read.words, read.units[window.first]?.start ?? 0, read.units[window.first]?.end ?? 0)
    : [from, to]
  const around = strengths(question, read, Math.min(beforeFrom, cutFrom), Math.max(cutTo, to))
  const all = strengths(question, read, 0, read.words.length)
  const titled = read.titleMatches
  const pronoun = startsWithPronoun(read.passage.text.slice(window.start, window.start + 12))
  const candidate = bestCandidate(question, read, from, to)
  return {
    overlap: mass(question, inside),
    context: mass(
      question,
      around.map((value, i) => Math.max(value, titled[i] ?? 0)),
    ),
    titled: mass(
      question,
      inside.map((value, i) => Math.max(value, titled[i] ?? 0)),
    ),
    pairs: pairs(question, read, from, to),
    passageScore: read.passage.score / bestScore,
    passageCoverage: mass(
      question,
      all.map((value, i) => Math.max(value, titled[i] ?? 0)),
    ),
    candidate: candidate.strength,
    near: candidate.near,
    answerNear: candidate.both,
    focus: question.terms.some((term, i) => term.focus && (inside[i] ?? 0) > 0) ? 1 : 0,
    opening: window.first === 0 ? 1 : 0,
    length: Math.min(1, window.length / limit),
    cutHead: window.cut && window.start > (read.units[window.first]?.start ?? 0) ? 1 : 0,
    cutTail: window.cut && window.end < (read.units[window.first]?.end ?? 0) ? 1 : 0,
    pronoun: pronoun ? 1 : 0,
    carry: pronoun ? mass(question, strengths(question, read, beforeFrom, from)) : 0,
    rest: rest(question, inside, titled),
    compact: compact(question, read, from, to),
    specific: specificMass(
      question,
      inside.map((value, i) => Math.max(value, titled[i] ?? 0)),
    ),
    rank: 1 / (1 + rank),
  }
}

export function wordRange(words: readonly Word[], start: number, end: number): [number, number] {
  let low = 0
  let high = words.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((words[middle]?.start ?? 0) < start) low = middle + 1
    else high = middle
  }
  let to = low
  while (to < words.length && (words[to]?.start ?? 0) < end) to++
  return [low, to]
}

function strengths(question: Question, read: ReadPassage, from: number, to: number): number[] {
  const found = question.terms.map(() => 0)
  for (let i = from; i < to; i++) {
    const match = read.matches[i]
    if (match !== undefined) found[match.term] = Math.max(found[match.term] ?? 0, match.strength)
  }
  return found
}

function mass(question: Question, found: readonly number[]): number {
  return question.terms.reduce((sum, term, i) => sum + term.weight * (found[i] ?? 0), 0)
}

/** Share of what the title leaves unsaid. */
function rest(question: Question, inside: readonly number[], titled: readonly number[]): number {
  let hit = 0,
    all = 0
  question.terms.forEach((term, i) => {
    const open = term.weight * (1 - (titled[i] ?? 0))
    all += open
    hit += open * (inside[i] ?? 0)
  })
  return all < 1e-9 ? 0 : hit / all
}

function compact(question: Question, read: ReadPassage, from: number, to: number): number {
  let best = 0
  for (let i = from; i < to; i++) {
    if (read.matches[i] === undefined) continue
    best = Math.max(best, mass(question, strengths(question, read, i, Math.min(to, i + 10))))
  }
  return best
}

function specificMass(question: Question, found: readonly number[]): number {
  let hit = 0,
    all = 0
  question.terms.forEach((term, i) => {
    if (term.specific) {
      all += term.weight
      hit += term.weight * (found[i] ?? 0)
    }
  })
  return all === 0 ? 1 : hit / all
}

/** Share of the question's neighbouring terms that stand near each other in the window too. */
function pairs(question: Question, read: ReadPassage, from: number, to: number): number {
  const count = question.terms.length - 1
  if (count < 1) return 0
  const last = question.terms.map(() => -1000)
  const seen = new Set<number>()
  for (let i = from; i < to; i++) {
    const match = read.matches[i]
    if (match === undefined) continue
    last[match.term] = i
    for (const other of [match.term - 1, match.term + 1]) {
      if (i - (last[other] ?? -1000) <= 3) seen.add(Math.min(match.term, other))
    }
  }
  let hit = 0,
    all = 0
  for (let i = 0; i < count; i++) {
    const weight = (question.terms[i]?.weight ?? 0) + (question.terms[i + 1]?.weight ?? 0)
    all += weight
    if (seen.has(i)) hit += weight
  }
  return all === 0 ? 0 : hit / all
}

function bestCandidate(
  question: Question,
  read: ReadPassage,
  from: number,
  to: number,
): { strength: number; near: number; both: number } {
  let strength = 0,
    near = 0,
    both = 0
  for (const candidate of read.candidates) {
    if (candidate.from < from || candidate.to > to) continue
    strength = Math.max(strength, candidate.strength)
    const closeness = nearness(question, read, candidate, from, to)
    near = Math.max(near, closeness)
    both = Math.max(both, closeness * candidate.strength)
  }
  return { strength, near, both }
}

/** Weight of the terms around a candidate, each less the further away it stands. */
function nearness(question: Question, read: ReadPassage, candidate: Candidate, from: number, to: number): number {
  const found = question.terms.map(() => 0)
  for (let i = from; i < to; i++) {
    const match = read.matches[i]
    if (match === undefined) continue
    const distance = i < candidate.from ? candidate.from - i : i >= candidate.to ? i - candidate.to + 1 : 0
    found[match.term] = Math.max(found[match.term] ?? 0, match.strength * Math.exp(-distance / 10))
  }
  return mass(question, found)
}

function startsWithPronoun(text: string): boolean {
  return /^(?:he|she|it|they|his|her|its|their|this|that|these|those|such)\b/i.test(text)
}
