/** Collects the chunks of each term before they are written, in arrays by term, so that no garbage is allocated. */

import { Postings } from './postings.ts'

const NONE = -1

export class TermLists {
  /** By term: indexes of its first and last entry, and the number of entries. */
  #first = new Int32Array(0).fill(NONE)
  #last = new Int32Array(0)
  #sizes = new Int32Array(0)
  /** By entry: chunk, count, and the index of the next entry of the same term. */
  #chunks = new Int32Array(1024)
  #counts = new Int32Array(1024)
  #next = new Int32Array(1024)
  #size = 0
  readonly #terms: number[] = []

  /** Number of pairs of a term and a chunk. */
  get size(): number {
    return this.#size
  }

  /** Counts a term of a chunk. Chunks must come in ascending order, each with all its terms. */
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

  /** The collected terms, ascending. */
  terms(): Int32Array {
    return Int32Array.from(this.#terms).sort()
  }

  /** Returns the number of chunks with a term. */
  frequency(term: number): number {
    return this.#sizes[term] ?? 0
  }

  /** Yields each term with its list, which is valid until the next iteration. */
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
