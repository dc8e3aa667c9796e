/**
 * Whether a passage bears out what an answer says in its own words, by words alone.
 *
 * In one place of the passage must stand: every number, most of the other words that mean something (forms of a word are one word), and a
 * denial where the answer has one and none where it has none. Names must stand somewhere in the passage. A word whose contrary stands there
 * instead (`March` for `May`) is a contradiction. What is meant, who does what to whom, and what follows from what is not seen.
 */

import type { Comparison, PassageText, Place } from './comparison.ts'
import { foldedWords, headOf } from './comparison.ts'
import { contrastOf, denialAt, isParticle, isStopWord, numeral, valuesOf } from './lexicon.ts'
import { isNumber, isSingle } from './tokens.ts'

export type Support = { readonly supported: true; readonly place: Place } | { readonly supported: false; readonly reason: string }

/** Share of the words that must stand in one place. */
const SUPPORT = 0.6
/** Below this many, agreement says nothing. */
const FEW = 2
const CANDIDATES = 6
/** Places looked at for a statement before the best of them are read. */
const VOTES = 600

interface Unit {
  readonly word: string
  readonly kind: 'word' | 'name' | 'number' | 'pair'
  /** Number of the word in the answer. */
  readonly at: number
}

export function supportOf(comparison: Comparison, passage: PassageText, said: Place): Support {
  const words = foldedWords(comparison.answer, said.from, said.to)
  const units = unitsOf(comparison, said, words)
  if (units.length < FEW) return { supported: false, reason: 'too few words to check' }
  const context = contextOf(passage)
  const absent = units.find(
    ({ word, kind, at }) => kind === 'name' && !stands(comparison, passage, at) && !has(context, word) && !hasForm(passage, word),
  )
  let best: { readonly checked: Checked; readonly place: Place } | undefined
  for (const place of candidates(comparison, passage, units)) {
    const checked = check(words, units, readPlace(passage, place), context)
    const current = best?.checked
    const better =
      current === undefined ||
      checked.share > current.share ||
      (checked.share === current.share &&
        (checked.problem === undefined ? 1 : 0) * 1e6 - length(place) >
          (current.problem === undefined ? 1 : 0) * 1e6 - length(best?.place ?? place))
    if (better) best = { checked, place }
  }
  if (best === undefined) return { supported: false, reason: 'the passage has none of it' }
  const { share, problem, missing } = best.checked
  if (absent !== undefined) return { supported: false, reason: `“${original(comparison, absent)}” is not in the passage` }
  if (problem !== undefined) return { supported: false, reason: problem }
  if (share < SUPPORT) return { supported: false, reason: `not in the passage: ${missing.slice(0, 5).join(', ')}` }
  return { supported: true, place: best.place }
}

function original({ answer }: Comparison, { at }: Unit): string {
  return answer.text.slice(answer.starts[at], answer.ends[at])
}

function stands(comparison: Comparison, passage: PassageText, at: number): boolean {
  return comparison.run(passage, at, at + 1) !== undefined
}

function length({ from, to }: Place): number {
  return to - from
}

/** The words that mean something, in their order. */
function unitsOf({ answer }: Comparison, said: Place, words: readonly string[]): Unit[] {
  const units: Unit[] = []
  const capitals = capitalsOf(answer.text, said, answer.starts)
  for (const [index, word] of words.entries()) {
    const at = said.from + index
    if (isNumber(word) || numeral(word) !== undefined) units.push({ word, kind: 'number', at })
    else if (isSingle(word)) {
      const next = words[index + 1]
      const together = next !== undefined && isSingle(next) && answer.ends[at] === answer.starts[at + 1]
      if (together && !isParticle(word) && !isParticle(next)) units.push({ word: word + next, kind: 'pair', at })
    } else if (!isStopWord(word) && denialAt(words, index) !== 'strong') {
      const isCapital = capitals[index] ?? false
      if (isCapital && index > 0 && word.length > 1) units.push({ word, kind: 'name', at })
      else if (word.length > 2) units.push({ word, kind: 'word', at })
    }
  }
  return units
}

/** Which words begin with a capital letter, where that makes a name of them: not in German, and not in a title. */
function capitalsOf(text: string, { from, to }: Place, starts: readonly number[]): boolean[] {
  const capitals: boolean[] = []
  let letters = 0
  let count = 0
  for (let at = from; at < to; at++) {
    const start = starts[at] ?? 0
    const first = String.fromCodePoint(text.codePointAt(start) ?? 0)
    const isCapital = /\p{Lu}/u.test(first)
    if (/\p{L}/u.test(first)) letters++
    if (isCapital) count++
    const opens = at === from || /[.!?:“„«"(]\s*$/.test(text.slice(Math.max(0, start - 4), start))
    capitals.push(isCapital && !opens)
  }
  const slice = text.slice(starts[from], starts[to - 1])
  const isGerman =
    /(?:^|[\s(])(?:der|die|das|den|dem|des|und|ist|wird|wurde|wurden|eine?[rnms]?|nicht|für|mit|von|zur?|zum|im|am|werden|sind|hat|haben)(?=\s)/i.test(
      slice,
    ) && !/\b(?:the|of|was|is)\b/i.test(slice)
  return isGerman || count * 2 > letters + 1 ? capitals.map(() => false) : capitals
}

/** Places where most of the words may stand, one sentence or two together. */
function candidates(comparison: Comparison, passage: PassageText, units: readonly Unit[]): Place[] {
  const places = passage.places()
  const lists = units
    .map(({ word, kind }) => passage.placesOf(headOf(kind === 'pair' ? word.slice(0, 1) : word)))
    .filter((list) => list.length > 0)
    .sort((a, b) => a.length - b.length)
  const votes = new Map<number, number>()
  let left = VOTES
  for (const list of lists) {
    for (const place of list.slice(0, left)) votes.set(place, (votes.get(place) ?? 0) + 1)
    left -= list.length
    if (left <= 0) break
  }
  // A long run may stand where none of the words is rare.
  for (const { at } of units.slice(0, CANDIDATES)) {
    const run = comparison.run(passage, at, at + 1)
    if (run === undefined) continue
    const place = passage.placeAt(run.first)
    if (!votes.has(place)) votes.set(place, 0.5)
  }
  const best = [...votes].sort(([a, x], [b, y]) => y - x || a - b).slice(0, CANDIDATES)
  const joined: Place[] = []
  for (const [index] of best) {
    const own = places[index]
    if (own === undefined) continue
    const next = places[index + 1]
    const before = places[index - 1]
    joined.push(own)
    if (next !== undefined) joined.push({ from: own.from, to: next.to })
    if (before !== undefined) joined.push({ from: before.from, to: own.to })
  }
  return joined
}

/** Words by their beginnings. */
type Bag = ReadonlyMap<string, readonly string[]>

interface Reading {
  readonly words: readonly string[]
  readonly bag: Bag
  readonly values: ReadonlySet<string>
  readonly pairs: ReadonlySet<string>
  /** Before which words a clause begins. */
  readonly clauses: readonly boolean[]
}

const readings = new WeakMap<PassageText, Map<string, Reading>>()

function readPlace(passage: PassageText, { from, to }: Place): Reading {
  let known = readings.get(passage)
  if (known === undefined) {
    known = new Map<string, Reading>()
    readings.set(passage, known)
  }
  const key = `${from}:${to}`
  const before = known.get(key)
  if (before !== undefined) return before
  const reading = read(foldedWords(passage, from, to), (at) =>
    passage.text.slice(
      Math.max(passage.ends[from + at - 1] ?? 0, (passage.starts[from + at] ?? 0) - 20),
      passage.starts[from + at],
    ),
  )
  known.set(key, reading)
  return reading
}

function read(words: readonly string[], gap: (at: number) => string): Reading {
  const bag = new Map<string, string[]>()
  const values = new Set<string>()
  const pairs = new Set<string>()
  for (const [at, word] of words.entries()) {
    const head = headOf(word)
    const list = bag.get(head)
    if (list === undefined) bag.set(head, [word])
    else if (!list.includes(word)) list.push(word)
    for (const value of numberValues(word)) values.add(value)
    pairs.add(word + (words[at + 1] ?? ''))
  }
  // `10 000` is one number.
  for (let at = 0; at + 1 < words.length; at++) {
    if (/^\d{1,3}$/.test(words[at] ?? '') && /^\d{3}$/.test(words[at + 1] ?? '') && /^[\s]$/.test(gap(at + 1))) {
      values.add(`${words[at] ?? ''}${words[at + 1] ?? ''}`)
    }
  }
  return { words, bag, values, pairs, clauses: words.map((_, at) => at === 0 || /[,;:()–—.!?，；：。！？、]/.test(gap(at))) }
}

function numberValues(word: string): readonly string[] {
  const digits = numeral(word)
  return digits !== undefined ? [digits] : isNumber(word) ? valuesOf(word) : []
}

function contextOf({ retrieved: { chunk } }: PassageText): Bag {
  const text = [chunk.title ?? '', ...(chunk.headings ?? []), chunk.source].join(' ').slice(0, 2000)
  return read(
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [],
    () => '',
  ).bag
}

/** Two words are forms of one when they share their beginning and most of their length. */
export function isForm(a: string, b: string): boolean {
  if (a === b) return true
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length < 4 || isNumber(a) || isSingle(a)) return false
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  if (same >= 4 && same >= 0.65 * long.length && long.length - same <= 5) return true
  return same >= 4 && INFLECTION.test(short.slice(same)) && INFLECTION.test(long.slice(same))
}

/** `drops`, `dropped`. */
const INFLECTION = /^(?:s|es|d|[bdgklmnprt]?(?:e|ed|ing|en))?$/

function has(bag: Bag, word: string): boolean {
  const list = bag.get(headOf(word)) ?? []
  if (list.some((other) => isForm(word, other))) return true
  // `mill`, `mills`; `rye`, `ryes`.
  return word.length === 3 && (bag.get(`${word}s`) ?? []).includes(`${word}s`)
}

function hasForm(passage: PassageText, word: string): boolean {
  const places = passage.places()
  return passage
    .placesOf(headOf(word))
    .slice(0, CANDIDATES)
    .some((index) => {
      const place = places[index]
      return place !== undefined && has(readPlace(passage, place).bag, word)
    })
}

interface Checked {
  readonly share: number
  readonly problem: string | undefined
  readonly missing: readonly string[]
}

function check(words: readonly string[], units: readonly Unit[], place: Reading, context: Bag): Checked {
  const missing: string[] = []
  let problem: string | undefined
  for (const { word, kind } of units) {
    if (kind === 'number') {
      if (numberValues(word).some((value) => place.values.has(value))) continue
      missing.push(word)
      if (!has(context, word)) problem ??= `“${word}” does not stand there`
    } else if (kind === 'pair') {
      if (!place.pairs.has(word)) missing.push(word)
    } else if (!has(place.bag, word) && !has(context, word)) {
      missing.push(word)
      problem ??= contraryOf(word, words, place)
    }
  }
  return {
    share: 1 - missing.length / units.length,
    problem: problem ?? denialProblem(words, place) ?? swapProblem(words, units, place),
    missing,
  }
}

function contraryOf(word: string, words: readonly string[], place: Reading): string | undefined {
  const contrast = contrastOf(word)
  if (contrast === undefined) return undefined
  const other = place.words.find((candidate) => {
    const its = contrastOf(candidate)
    return (
      its !== undefined &&
      its[0] === contrast[0] &&
      its[1] !== contrast[1] &&
      !isStopWord(candidate) &&
      !words.includes(candidate)
    )
  })
  return other === undefined ? undefined : `says “${word}” where the passage has “${other}”`
}

/** A denial counts where the other side speaks of what it denies. */
function denialProblem(words: readonly string[], place: Reading): string | undefined {
  const claim = read(words, () => '')
  const denied = place.words.findIndex((_, at) => denialAt(place.words, at) === 'strong' && denies(place, at, claim))
  const denial = words.findIndex((_, at) => denialAt(words, at) === 'strong')
  if (denial >= 0) {
    const some =
      deniesToo(place, targetOf(claim, denial)) &&
      (denied >= 0 || place.words.some((_, at) => denialAt(place.words, at) === 'weak'))
    return some ? undefined : `denies with “${words[denial] ?? ''}” what the passage does not deny`
  }
  if (denied < 0) return undefined
  const weak = words.some((_, at) => denialAt(words, at) === 'weak')
  return weak ? undefined : `leaves out “${place.words[denied] ?? ''}”`
}

const REACH = 4

/** The word that a denial stands before. */
function targetOf({ words }: Reading, at: number): string | undefined {
  return words.slice(at + 1, at + 1 + REACH).find((word) => !isStopWord(word) && !isSingle(word) && word.length > 2)
}

const JOINT = /^(?:and|but|or|und|aber|oder|sondern|et|mais|ou|y|pero|e|ma|en|maar)$/

/** Whether a place that has a word denies something in the same clause. */
function deniesToo({ words, clauses }: Reading, target: string | undefined): boolean {
  if (target === undefined) return true
  let isThere = false
  let start = 0
  for (let at = 1; at <= words.length; at++) {
    if (at < words.length && clauses[at] !== true && !JOINT.test(words[at] ?? '')) continue
    const clause = words.slice(start, at)
    if (clause.some((word) => isForm(word, target))) {
      isThere = true
      if (clause.some((_, index) => denialAt(clause, index) !== undefined)) return true
    }
    start = at
  }
  return !isThere
}

function denies({ words, clauses }: Reading, at: number, other: Reading): boolean {
  const says = (word: string): boolean => has(other.bag, word) || other.pairs.has(word)
  const means = (index: number): boolean => {
    const word = words[index] ?? ''
    return !isStopWord(word) && denialAt(words, index) === undefined && word.length > 1
  }
  if (isSingle(words[at] ?? '')) {
    return (
      other.pairs.has((words[at + 1] ?? '') + (words[at + 2] ?? '')) ||
      other.pairs.has((words[at + 2] ?? '') + (words[at + 3] ?? ''))
    )
  }
  for (let index = at + 1; index < words.length && index <= at + REACH && clauses[index] !== true; index++) {
    if (means(index)) return says(words[index] ?? '')
  }
  // It stands behind what it denies: `startet nicht`.
  let known = 0
  let all = 0
  for (let index = at - 1; index >= 0 && index >= at - REACH && clauses[index + 1] !== true; index--) {
    if (!means(index)) continue
    all++
    if (says(words[index] ?? '')) known++
  }
  return known * 2 > all
}

/** The same words in the same order, but for names or numbers that changed places. */
function swapProblem(words: readonly string[], units: readonly Unit[], place: Reading): string | undefined {
  const opening = units.filter(({ word }, index) => index === 0 && word === words[0])
  const names = units.filter(({ kind }) => kind === 'name' || kind === 'number')
  const movable = new Set([...names, ...(names.length > 0 ? opening : [])].map(({ word }) => word))
  if (movable.size === 0) return undefined
  const said = new Set(words)
  const same = place.words.filter((word) => said.has(word))
  if (same.length !== words.length || same.join(' ') === words.join(' ')) return undefined
  const rest = (list: readonly string[]): string => list.map((word) => (movable.has(word) ? '_' : word)).join(' ')
  return rest(same) === rest(words) && same.toSorted().join(' ') === words.toSorted().join(' ')
    ? 'names or numbers have changed places'
    : undefined
}
