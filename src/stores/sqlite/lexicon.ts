/** Maps the terms of a text to numbers; a new term gets the next number. */

import { termsOf } from '../../text/analyzer.ts'
import { isDivider, isEdge, JOINS_DIVIDERS } from '../../text/split.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readFact, writeFact } from './facts.ts'

export interface NewTerm {
  readonly id: number
  readonly term: string
}

export class Lexicon {
  readonly #connection: Connection
  /** Term numbers of each word. */
  #words: WordTable | undefined
  #changes = -1
  #next = 0
  #added: NewTerm[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Call it first in a transaction. Cached lookups stay valid unless another process has changed the index. */
  begin(): void {
    const changes = readFact(this.#connection, 'changes')
    if (changes !== this.#changes) this.forget()
    this.#changes = changes
    this.#next = readFact(this.#connection, 'next_term')
  }

  /** Call it last in a transaction, with the new value of the fact `changes`. */
  end(changes: number): void {
    // Without `begin`, an earlier change by another process would go unnoticed.
    if (this.#changes === changes - 1) this.#changes = changes
  }

  /** Appends the numbers of the terms of a text, in text order. */
  read(text: string, into: number[]): void {
    if (text.includes(JOINS_DIVIDERS)) {
      for (const term of termsOf(text)) into.push(this.#idOf(term))
      return
    }
    const words = (this.#words ??= new WordTable())
    let at = 0
    while (at < text.length) {
      let code = text.charCodeAt(at)
      if (isDivider(code) || isEdge(code)) {
        at++
        continue
      }
      const start = at
      let end = at
      let hash = words.seed
      let hashHere = words.seed
      for (; at < text.length && !isDivider((code = text.charCodeAt(at))); at++) {
        hashHere = hashWith(hashHere, code)
        if (isEdge(code)) continue
        end = at + 1
        hash = hashHere
      }
      if (words.read(text, start, end, hash, into)) continue
      const ids = termsOf(text.slice(start, end)).map((term) => this.#idOf(term))
      words.learn(text, start, end, hash, ids)
      for (const id of ids) into.push(id)
    }
  }

  /** Number of new terms since the last call of `takeAdded`. */
  get added(): number {
    return this.#added.length
  }

  /** Returns the new terms since the last call, by number. */
  takeAdded(): readonly NewTerm[] {
    const added = this.#added
    if (added.length > 0) writeFact(this.#connection, 'next_term', this.#next)
    this.#added = []
    return added
  }

  forget(): void {
    this.#words?.clear()
    this.#added = []
    this.#changes = -1
  }

  #idOf(term: string): number {
    const id = this.#next
    if (this.#connection.run('INSERT INTO terms (id, term) VALUES (?, ?) ON CONFLICT (term) DO NOTHING', [id, term]) === 0) {
      return this.#connection.get<{ id: number }>('SELECT id FROM terms WHERE term = ?', [term])?.id ?? id
    }
    this.#next++
    this.#added.push({ id, term })
    return id
  }
}

/** Cached pieces; at this number the cache is cleared, which bounds memory. */
const MOST = 131_072
const SLOTS = 4 * MOST
const LONGEST = 64
const EMPTY = -1

/**
 * Caches the term numbers of pieces of text: a hash table with ranges of a text as keys, so that looking up a known word allocates no string.
 */
class WordTable {
  /** Random start of each hash, so that an attacker cannot choose words that collide. */
  readonly seed: number = Math.floor(Math.random() * 2 ** 31)
  /** Entry by slot. */
  readonly #slots = new Int32Array(SLOTS).fill(EMPTY)
  /** By entry: its hash, and the start of its characters and numbers, which end at the start of the next entry. */
  readonly #hashes = new Int32Array(MOST)
  readonly #charsAt = new Int32Array(MOST + 1)
  readonly #numbersAt = new Int32Array(MOST + 1)
  #chars = new Uint16Array(MOST)
  #numbers = new Int32Array(MOST)
  #size = 0

  /** Appends the numbers of a piece of text; returns false when it is not cached. */
  read(text: string, start: number, end: number, hash: number, into: number[]): boolean {
    const entry = this.#find(text, start, end, hash)
    if (entry === EMPTY) return false
    const last = this.#numbersAt[entry + 1] ?? 0
    for (let at = this.#numbersAt[entry] ?? 0; at < last; at++) into.push(this.#numbers[at] ?? 0)
    return true
  }

  /** Caches the numbers of a new piece. Long pieces are ignored. */
  learn(text: string, start: number, end: number, hash: number, numbers: readonly number[]): void {
    if (end - start > LONGEST) return
    if (this.#size === MOST) this.clear()
    const entry = this.#size++
    const chars = this.#charsAt[entry] ?? 0
    const first = this.#numbersAt[entry] ?? 0
    if (chars + LONGEST > this.#chars.length) this.#chars = grown(this.#chars, new Uint16Array(2 * this.#chars.length))
    while (first + numbers.length > this.#numbers.length) {
      this.#numbers = grown(this.#numbers, new Int32Array(2 * this.#numbers.length))
    }
    for (let at = start; at < end; at++) this.#chars[chars + at - start] = text.charCodeAt(at)
    this.#numbers.set(numbers, first)
    this.#hashes[entry] = hash
    this.#charsAt[entry + 1] = chars + end - start
    this.#numbersAt[entry + 1] = first + numbers.length
    let slot = slotOf(hash)
    while (this.#slots[slot] !== EMPTY) slot = (slot + 1) % SLOTS
    this.#slots[slot] = entry
  }

  clear(): void {
    this.#slots.fill(EMPTY)
    this.#size = 0
  }

  #find(text: string, start: number, end: number, hash: number): number {
    for (let slot = slotOf(hash); ; slot = (slot + 1) % SLOTS) {
      const entry = this.#slots[slot] ?? EMPTY
      if (entry === EMPTY) return EMPTY
      if (this.#hashes[entry] === hash && this.#isAt(entry, text, start, end)) return entry
    }
  }

  #isAt(entry: number, text: string, start: number, end: number): boolean {
    const chars = this.#charsAt[entry] ?? 0
    if ((this.#charsAt[entry + 1] ?? 0) - chars !== end - start) return false
    for (let at = start; at < end; at++) if (text.charCodeAt(at) !== this.#chars[chars + at - start]) return false
    return true
  }
}

/** Updates an FNV-1a hash with a character, 16 bits at a time. */
function hashWith(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01_00_01_93)
}

function slotOf(hash: number): number {
  return ((hash ^ (hash >>> 15)) >>> 0) % SLOTS
}

function grown<T extends Uint16Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
