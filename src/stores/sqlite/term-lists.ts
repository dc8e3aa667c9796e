/** Gathers which chunks have each term, before it is written: in arrays by term, so that gathering makes no garbage. */

import { Postings } from './postings.ts'

const NONE = -1

export class TermLists {
  /** By term: where its first and last entry stand, and how many there are. */
  #first = new Int32Array(0).fill(NONE)
  #last = new Int32Array(0)
  #sizes = new Int32Array(0)
  /** By entry: chunk, count, and where the next entry of the same term stands. */
  #chunks = new Int32Array(1024)
  #counts = new Int32Array(1024)
  #next = new Int32Array(1024)
  #size = 0
  readonly #terms: number[] = []

  /** Pairs of a term and a chunk. */
  get size(): number {
    return this.#size
  }

  /** Counts a term of a chunk. The same chunk is given until all its terms are counted, and none that is lower comes after it. */
  add(term: number, chunk: number, count: number): void {
    if (term >= this.#first.length) this.#growTerms(term + 1)
    const last = this.#last[term] ?? NONE
    const isNew = this.#first[term] === NONE
    if (!isNew && this.#chunks[last] === chunk) {
      this.#counts[last] = (this.#counts[last] ?? 0) + count
      return
    }
    if (this.#size === this.#chunks.length) this.#growEntries()
    const at = this.#size++
    this.#chunks[at] = chunk
    this.#counts[at] = count
    this.#next[at] = NONE
    if (isNew) {
      this.#first[term] = at
      this.#terms.push(term)
    } else {
      this.#next[last] = at
    }
    this.#last[term] = at
    this.#sizes[term] = (this.#sizes[term] ?? 0) + 1
  }

  /** The terms there are, ascending. */
  terms(): Int32Array {
    return Int32Array.from(this.#terms).sort()
  }

  /** How many chunks have a term. */
  frequency(term: number): number {
    return this.#sizes[term] ?? 0
  }

  /** Each term with its list, which is good until the next is asked for. */
  *lists(terms: Int32Array): Generator<readonly [number, Postings]> {
    const list = new Postings()
    for (const term of terms) {
      list.clear()
      for (let at = this.#first[term] ?? NONE; at !== NONE; at = this.#next[at] ?? NONE) {
        list.add(this.#chunks[at] ?? 0, this.#counts[at] ?? 1)
      }
      yield [term, list]
    }
  }

  clear(): void {
    for (const term of this.#terms) {
      this.#first[term] = NONE
      this.#sizes[term] = 0
    }
    this.#terms.length = 0
    this.#size = 0
  }

  #growTerms(least: number): void {
    const length = Math.max(least, 2 * this.#first.length)
    const first = new Int32Array(length).fill(NONE)
    first.set(this.#first)
    this.#first = first
    this.#last = grown(this.#last, length)
    this.#sizes = grown(this.#sizes, length)
  }

  #growEntries(): void {
    const length = 2 * this.#chunks.length
    this.#chunks = grown(this.#chunks, length)
    this.#counts = grown(this.#counts, length)
    this.#next = grown(this.#next, length)
  }
}

function grown(numbers: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length)
  larger.set(numbers)
  return larger
}
