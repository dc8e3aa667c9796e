/** The numbers of the terms of a text; a term that the store has not met gets the next number. */

import { runsOf, termsOfRun } from '../analyze/analyzer.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readFact, writeFact } from './facts.ts'

/** Words in each of two generations that are remembered: bounds memory. */
const REMEMBERED = 65_536
const LONGEST_REMEMBERED = 64

export interface NewTerm {
  readonly id: number
  readonly term: string
}

export class Lexicon {
  readonly #connection: Connection
  /** Numbers of the terms of a word. What was not asked for in a whole generation is forgotten, and looked up again. */
  #young = new Map<string, readonly number[]>()
  #old = new Map<string, readonly number[]>()
  #changes = -1
  #next = 0
  #added: NewTerm[] = []

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Call it first in a transaction. Numbers that were looked up before hold unless another process has changed the index meanwhile. */
  begin(): void {
    if (readFact(this.#connection, 'changes') !== this.#changes) this.forget()
    this.#next = readFact(this.#connection, 'next_term')
  }

  /** Call it last in a transaction, with the value of the fact `changes` that it leaves. */
  end(changes: number): void {
    this.#changes = changes
  }

  /** Appends the numbers of the terms of a text, in their order. */
  read(text: string, into: number[]): void {
    for (const run of runsOf(text)) {
      let ids = this.#young.get(run)
      if (ids === undefined) ids = this.#learn(run)
      for (const id of ids) into.push(id)
    }
  }

  /** The terms that are new since this was last asked, by number. */
  takeAdded(): readonly NewTerm[] {
    const added = this.#added
    if (added.length > 0) writeFact(this.#connection, 'next_term', this.#next)
    this.#added = []
    return added
  }

  forget(): void {
    this.#young.clear()
    this.#old.clear()
    this.#added = []
    this.#changes = -1
  }

  #learn(run: string): readonly number[] {
    const ids = this.#old.get(run) ?? termsOfRun(run).map((term) => this.#idOf(term))
    if (run.length > LONGEST_REMEMBERED) return ids
    if (this.#young.size >= REMEMBERED) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(run, ids)
    return ids
  }

  #idOf(term: string): number {
    const known = this.#connection.get<{ id: number }>('SELECT id FROM terms WHERE term = ?', [term])
    if (known !== undefined) return known.id
    const id = this.#next++
    this.#connection.run('INSERT INTO terms (id, term) VALUES (?, ?)', [id, term])
    this.#added.push({ id, term })
    return id
  }
}
