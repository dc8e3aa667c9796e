/**
 * Collects posting lists, ascending numbers with a count each, and encodes them as bytes: for each number the distance from the previous one, doubled,
 * plus 1 when a count other than 1 follows; all as variable-length integers, seven bits to a byte, lowest first.
 */

/** Decodes lists into reusable arrays, so that reading allocates no garbage. */
export class Postings {
  ids: Int32Array
  counts: Int32Array
  size = 0

  /** @param room numbers that fit before the arrays grow. */
  constructor(room = 1024) {
    this.ids = new Int32Array(room)
    this.counts = new Int32Array(room)
  }

  clear(): void {
    this.size = 0
  }

  add(id: number, count: number): void {
    if (this.size === this.ids.length) this.#grow(this.size + 1)
    this.ids[this.size] = id
    this.counts[this.size] = count
    this.size++
  }

  /** Appends the output of `encode`. */
  read(base: number, data: Uint8Array): void {
    if (this.size + data.length > this.ids.length) this.#grow(this.size + data.length)
    const { ids, counts } = this
    let { size } = this
    let id = base
    let at = 0
    while (at < data.length) {
      let byte = data[at++] ?? 0
      let value = byte & 0x7f
      for (let shift = 7; byte > 0x7f; shift += 7) {
        byte = data[at++] ?? 0
        value |= (byte & 0x7f) << shift
      }
      id += value >>> 1
      let count = 1
      if ((value & 1) === 1) {
        byte = data[at++] ?? 0
        count = byte & 0x7f
        for (let shift = 7; byte > 0x7f; shift += 7) {
          byte = data[at++] ?? 0
          count |= (byte & 0x7f) << shift
        }
      }
      ids[size] = id
      counts[size] = count
      size++
    }
    this.size = size
  }

  #grow(least: number): void {
    const length = Math.max(least, 2 * this.ids.length)
    const { ids, counts } = this
    this.ids = new Int32Array(length)
    this.counts = new Int32Array(length)
    this.ids.set(ids)
    this.counts.set(counts)
  }
}

/** Encodes the list; its first number is stored as the distance from `base`. */
export function encode(base: number, { ids, counts, size }: Postings): Uint8Array {
  const bytes = new Bytes()
  let previous = base
  for (let at = 0; at < size; at++) {
    const id = ids[at] ?? 0
    const count = counts[at] ?? 1
    bytes.write((id - previous) * 2 + (count === 1 ? 0 : 1))
    if (count !== 1) bytes.write(count)
    previous = id
  }
  return bytes.take()
}

/** Encodes numbers from 0 to 2^31 - 1. */
export function encodeNumbers(numbers: readonly number[]): Uint8Array {
  const bytes = new Bytes()
  for (const number of numbers) bytes.write(number)
  return bytes.take()
}

export function decodeNumbers(data: Uint8Array): number[] {
  const numbers: number[] = []
  let at = 0
  while (at < data.length) {
    let byte = data[at++] ?? 0
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = data[at++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    numbers.push(value)
  }
  return numbers
}

class Bytes {
  #data = new Uint8Array(64)
  #size = 0

  write(value: number): void {
    if (this.#size + 5 > this.#data.length) {
      const larger = new Uint8Array(2 * this.#data.length)
      larger.set(this.#data)
      this.#data = larger
    }
    let rest = value
    while (rest > 0x7f) {
      this.#data[this.#size++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#data[this.#size++] = rest
  }

  take(): Uint8Array {
    return this.#data.slice(0, this.#size)
  }
}

const NONE = -1

/** Collects the chunks of each term before they are written, in arrays by term, so that no garbage is allocated. */
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
