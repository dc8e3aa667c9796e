/**
 * Finds what an answer and its passages have in common, in time that grows with their lengths alone.
 *
 * The suffix automaton of the answer (Blumer et al., "The smallest automaton recognizing the subwords of a text", 1985) has a state for
 * each set of its word sequences that end at the same places. A passage is read through it once, as in matching statistics (Chang and
 * Lawler, 1994), and leaves at each state how long a sequence of that state it holds, and where.
 */

export interface Automaton {
  /** The state after one more word, or -1. */
  readonly next: (state: number, word: number) => number
  /** The state of the longest proper suffix that has other ends; -1 at the root. */
  readonly link: readonly number[]
  /** Length of the longest sequence of the state. */
  readonly length: readonly number[]
}

const ROOT = 0

export function buildAutomaton(words: readonly number[]): Automaton {
  const link = [-1]
  const length = [0]
  // Most states have one way out: only the others need a map.
  const firstWord = [-1]
  const firstState = [-1]
  const more: (Map<number, number> | undefined)[] = [undefined]
  const next = (state: number, word: number): number =>
    firstWord[state] === word ? (firstState[state] ?? -1) : (more[state]?.get(word) ?? -1)
  const connect = (state: number, word: number, to: number): void => {
    if (firstWord[state] === -1 || firstWord[state] === word) {
      firstWord[state] = word
      firstState[state] = to
    } else {
      const map = (more[state] ??= new Map<number, number>())
      map.set(word, to)
    }
  }
  const add = (size: number): number => {
    link.push(-1)
    length.push(size)
    firstWord.push(-1)
    firstState.push(-1)
    more.push(undefined)
    return length.length - 1
  }
  let last = ROOT
  for (const word of words) {
    const state = add((length[last] ?? 0) + 1)
    let from = last
    while (from !== -1 && next(from, word) === -1) {
      connect(from, word, state)
      from = link[from] ?? -1
    }
    last = state
    if (from === -1) {
      link[state] = ROOT
      continue
    }
    const target = next(from, word)
    const size = (length[from] ?? 0) + 1
    if (size === length[target]) {
      link[state] = target
      continue
    }
    const clone = add(size)
    link[clone] = link[target] ?? ROOT
    firstWord[clone] = firstWord[target] ?? -1
    firstState[clone] = firstState[target] ?? -1
    const others = more[target]
    if (others !== undefined) more[clone] = new Map(others)
    while (from !== -1 && next(from, word) === target) {
      connect(from, word, clone)
      from = link[from] ?? -1
    }
    link[target] = clone
    link[state] = clone
  }
  return { next, link, length }
}

/** What a passage holds of a state: the longest sequence, and the words at which it ends first and last. */
export interface Occurrence {
  length: number
  first: number
  last: number
}

/** @param count counts the steps taken, for tests. */
export function readThrough(
  { next, link, length }: Automaton,
  words: readonly number[],
  count: (steps: number) => void = () => {},
): ReadonlyMap<number, Occurrence> {
  const found = new Map<number, Occurrence>()
  const note = (state: number, size: number, first: number, last: number): boolean => {
    const known = found.get(state)
    if (known === undefined) found.set(state, { length: size, first, last })
    else if (size > known.length) Object.assign(known, { length: size, first, last })
    else if (size === known.length) {
      known.first = Math.min(known.first, first)
      known.last = Math.max(known.last, last)
    }
    return known === undefined
  }
  let state = ROOT
  let size = 0
  let steps = 0
  for (const [at, word] of words.entries()) {
    steps++
    if (word < 0) {
      state = ROOT
      size = 0
      continue
    }
    let to = next(state, word)
    while (to === -1 && state !== ROOT) {
      steps++
      state = link[state] ?? ROOT
      size = length[state] ?? 0
      to = next(state, word)
    }
    if (to === -1) continue
    state = to
    size++
    note(state, size, at, at)
  }
  // What holds a sequence holds its suffixes too: they are the states up the links, longest first.
  const states = [...found.keys()]
  for (const child of states) {
    for (let up = link[child] ?? ROOT; up > ROOT && !found.has(up); up = link[up] ?? ROOT) {
      steps++
      found.set(up, { length: 0, first: Number.MAX_SAFE_INTEGER, last: -1 })
      states.push(up)
    }
  }
  for (const child of states.sort((a, b) => (length[b] ?? 0) - (length[a] ?? 0))) {
    const up = link[child] ?? ROOT
    const own = found.get(child)
    if (up > ROOT && own !== undefined) note(up, length[up] ?? 0, own.first, own.last)
  }
  count(steps + states.length)
  return found
}

/** A piece of the answer that stands in a passage word for word; `first` and `last` are where it begins there. */
export interface Run {
  readonly from: number
  readonly to: number
  readonly first: number
  readonly last: number
}

/** The longest run from a word on; `undefined` where not even that word stands in the passage. */
export function runFrom(
  { next }: Automaton,
  answer: readonly number[],
  found: ReadonlyMap<number, Occurrence>,
  from: number,
  to: number,
): Run | undefined {
  let state = ROOT
  let best: Occurrence | undefined
  let at = from
  for (; at < to; at++) {
    state = next(state, answer[at] ?? -1)
    const here = state === -1 ? undefined : found.get(state)
    if (here === undefined || here.length < at - from + 1) break
    best = here
  }
  const size = at - from
  return best === undefined || size === 0 ? undefined : { from, to: at, first: best.first - size + 1, last: best.last - size + 1 }
}
