/** Numbers the terms of a text; a new term gets the next number. */

import { termsOf } from '../../text/analyzer.ts'
import { isDivider, isEdge, JOINS_DIVIDERS } from '../../text/split.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readFact, writeFact } from './facts.ts'
import { hashWith, WordTable } from './word-table.ts'

export interface NewTerm {
  readonly id: number
  readonly term: string
}

export class Lexicon {
  readonly #connection: Connection
  /** Numbers of the terms of each word. */
  #words: WordTable | undefined
  #changes = -1
  #next = 0
  #added: NewTerm[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Call it first in a transaction. What was looked up before holds unless another process has changed the index meanwhile. */
  begin(): void {
    const changes = readFact(this.#connection, 'changes')
    if (changes !== this.#changes) this.forget()
    this.#changes = changes
    this.#next = readFact(this.#connection, 'next_term')
  }

  /** Call it last in a transaction, with the value of the fact `changes` that it leaves. */
  end(changes: number): void {
    // Without `begin` nothing says whether another process has changed the index before.
    if (this.#changes === changes - 1) this.#changes = changes
  }

  /** Appends the numbers of the terms of a text, in their order. */
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

  /** Terms that are new since `takeAdded` was last called. */
  get added(): number {
    return this.#added.length
  }

  /** The terms that are new since this was last called, by number. */
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
