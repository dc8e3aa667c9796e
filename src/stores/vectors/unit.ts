/** Normalises vectors to length 1, and reduces them to one bit per number for fast scans. */

import { CriaError } from '../../core/error.ts'

/**
 * Returns the vector with length 1, so that a dot product is a cosine, whether or not the provider normalises; `undefined` for a vector without a
 * direction (all zero).
 *
 * @throws CriaError `invalid_response` when the value is not a vector of finite numbers.
 */
export function toUnit(vector: Float32Array, ref: string): Float32Array | undefined {
  let squares = 0
  for (const value of vector) squares += value * value
  if (!Number.isFinite(squares) || vector.length === 0) {
    throw new CriaError('invalid_response', `${ref}: a vector must be a list of finite numbers.`, { retryable: false })
  }
  if (squares === 0) return undefined
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

/** Returns the dot product of vectors of equal length. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}

export function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
}

export function fromBytes(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice()
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / Float32Array.BYTES_PER_ELEMENT)
}

export function codeBytes(dimensions: number): number {
  return Math.ceil(dimensions / 8)
}

/** Returns one bit for each number: set if it is above 0. */
export function codeOf(vector: Float32Array): Uint8Array {
  const code = new Uint8Array(codeBytes(vector.length))
  for (let at = 0; at < vector.length; at++) {
    if ((vector[at] ?? 0) > 0) code[at >> 3] = (code[at >> 3] ?? 0) | (1 << (at & 7))
  }
  return code
}

/**
 * Estimates the dot product of a vector with others from their codes alone: the sum of its numbers, each with the sign of the bit. Only the order of
 * the estimates is meaningful. For each byte of a code, a table holds the sums of its 256 values.
 */
export class CodeScorer {
  readonly #tables: Float32Array
  readonly #bytes: number

  constructor(vector: Float32Array) {
    this.#bytes = codeBytes(vector.length)
    this.#tables = new Float32Array(this.#bytes * 256)
    for (let byte = 0; byte < this.#bytes; byte++) {
      for (let value = 0; value < 256; value++) {
        let sum = 0
        for (let bit = 0; bit < 8; bit++) {
          const number = vector[byte * 8 + bit] ?? 0
          sum += (value >> bit) & 1 ? number : -number
        }
        this.#tables[byte * 256 + value] = sum
      }
    }
  }

  /** @param at offset of the code. */
  score(codes: Uint8Array, at: number): number {
    const tables = this.#tables
    let sum = 0
    for (let byte = 0; byte < this.#bytes; byte++) sum += tables[byte * 256 + (codes[at + byte] ?? 0)] ?? 0
    return sum
  }
}
