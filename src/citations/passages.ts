/** Reads passages, finds the window of a passage nearest to a statement, and defines the types of statements and mismatches. */

import type { CitationKind } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import { readWords, windowsOf, withoutCommas } from '../text/comparable-words.ts'
import type { IndexedWords, Window, Words } from '../text/comparable-words.ts'
import { fold } from '../text/fold.ts'
import { isClosed, languageOf } from '../text/function-words.ts'
import type { Language } from '../text/function-words.ts'
import { readQuantities } from '../text/numbers.ts'
import type { Measured } from '../text/numbers.ts'
import { isYear } from '../text/same-amount.ts'
import { firstIndex } from '../util/range.ts'
import type { Range } from '../util/range.ts'

export interface Passage extends IndexedWords {
  readonly retrieved: Retrieved
  readonly language: Language
  readonly windows: readonly Window[]
  readonly measured: Measured
  /** All possible values of its numbers, and years, alone or in dates. */
  readonly values: ReadonlySet<number>
  readonly years: ReadonlySet<number>
  /** Stems of title, headings and source: context that the text need not repeat. */
  readonly context: ReadonlySet<string>
}

export function readPassage(retrieved: Retrieved): Passage {
  const { chunk } = retrieved
  const { text } = chunk
  const words = readWords(text)
  const places = new Map<string, number[]>()
  for (const [at, key] of words.keys.entries()) {
    const known = places.get(key)
    if (known === undefined) places.set(key, [at])
    else known.push(at)
  }
  const context = new Set(readWords([chunk.title ?? '', ...(chunk.headings ?? []), chunk.source].join('\n')).keys)
  const language = languageOf(text)
  const windows = windowsOf(words)
  let measured: Measured | undefined
  let values: ReadonlySet<number> | undefined
  let years: ReadonlySet<number> | undefined
  return {
    ...words,
    retrieved,
    language,
    windows,
    get measured() {
      return (measured ??= readQuantities(withoutCommas(text, windows), language))
    },
    get values() {
      return (values ??= new Set(this.measured.quantities.flatMap((quantity) => quantity.values)))
    },
    get years() {
      const inDates = this.measured.dates.flatMap(({ year }) => year ?? [])
      return (years ??= new Set([
        ...this.measured.quantities.flatMap((quantity) => (isYear(quantity) ? quantity.values : [])),
        ...inDates,
      ]))
    },
    places,
    context,
  }
}

/** Returns the index of the window with a word of a passage. */
export function windowAt({ windows }: Passage, word: number): number {
  return firstIndex(windows, ({ to }) => to > word)
}

/** A window, and the share (0 to 1) of the weight of the statement's words that it holds. */
export interface Near {
  readonly passage: Passage
  readonly window: Window
  readonly share: number
}

/** Weights of stems: rarer stems weigh more. */
export type Weights = ReadonlyMap<string, number>

/** Most places of a stem that are searched: a more frequent stem has almost no weight. */
const MOST_PLACES = 400

/** The passages of a turn; each is parsed on first use. */
export class Library {
  readonly #retrieved: ReadonlyMap<string, Retrieved>
  readonly #read = new Map<string, Passage>()
  #windowCount: number | undefined

  constructor(passages: readonly Retrieved[]) {
    this.#retrieved = new Map(passages.map((passage) => [passage.marker, passage]))
  }

  get markers(): readonly string[] {
    return [...this.#retrieved.keys()]
  }

  passage(marker: string): Passage | undefined {
    const known = this.#read.get(marker)
    if (known !== undefined) return known
    const retrieved = this.#retrieved.get(marker)
    if (retrieved === undefined) return undefined
    const read = readPassage(retrieved)
    this.#read.set(marker, read)
    return read
  }

  all(): readonly Passage[] {
    return this.markers.flatMap((marker) => this.passage(marker) ?? [])
  }

  /** Returns the content words of a statement, weighted by inverse frequency over all windows of the turn. */
  weigh({ words, keys }: Words, language: Language): Weights {
    const stems = new Set(
      keys.filter((_, at) => /[\p{L}\p{N}]/u.test(words[at] ?? '') && !isClosed(words[at] ?? '', language, fold)),
    )
    const all = this.all()
    this.#windowCount ??= all.reduce((sum, { windows }) => sum + windows.length, 0)
    const weights = new Map<string, number>()
    for (const stem of stems) {
      const count = all.reduce((sum, { places }) => sum + Math.min(places.get(stem)?.length ?? 0, MOST_PLACES), 0)
      // An unknown word may be a synonym or an error, so that it weighs no more than a word with two places.
      weights.set(stem, Math.log(1 + (this.#windowCount + 1) / (count === 0 ? 2 : count)))
    }
    return weights
  }
}

/** Returns the windows of a passage that hold the most weight, best first. */
export function nearest(passage: Passage, weights: Weights, most: number): Near[] {
  let total = 0
  const sums = new Map<number, number>()
  for (const [stem, weight] of weights) {
    total += weight
    const places = passage.places.get(stem) ?? []
    let last = -1
    for (let at = 0; at < places.length && at < MOST_PLACES; at++) {
      const window = windowAt(passage, places[at] ?? 0)
      if (window !== last) sums.set(window, (sums.get(window) ?? 0) + weight)
      last = window
    }
  }
  return [...sums]
    .sort(([at, a], [other, b]) => b - a || at - other)
    .slice(0, most)
    .flatMap(([at, sum]) => {
      const window = passage.windows[at]
      return window === undefined ? [] : [{ passage, window, share: total === 0 ? 0 : sum / total }]
    })
}

/** A statement with the passages that it cites. */
export interface Claim extends Words {
  readonly language: Language
  readonly measured: Measured
  /** Ranges of code in `text`. */
  readonly code: readonly Range[]
  /** Content stems with their weights. */
  readonly weights: Weights
  readonly cited: readonly Passage[]
  /** Windows of the cited passages, nearest first. */
  readonly near: readonly Near[]
  /** Stems of the question, which passages need not contain. */
  readonly question: ReadonlySet<string>
}

export interface Mismatch {
  readonly kind: CitationKind
  readonly reason: string
  readonly passage: Passage
  /** The contradicting range in the text of the passage. */
  readonly range: Range
}

/** Formats a reason that quotes both sides. */
export function reasonFor(said: string, has: string, where = 'the passage has'): string {
  return `says “${said}” where ${where} “${has}”`
}
