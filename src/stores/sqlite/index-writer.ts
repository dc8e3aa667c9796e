/** Keeps the index in step with the chunks, inside the transaction of the caller. */

import { hash } from 'node:crypto'
import type { Chunk } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { gramsOf } from '../rank/spelling.ts'
import { addToFact, changeNumbers, MARK, readFact, readNumbers, WEIGHTS, writeFact } from './facts.ts'
import { compareKeys, InvertedIndex } from './inverted.ts'
import { Lexicon } from './lexicon.ts'
import type { NewTerm } from './lexicon.ts'
import { decodeNumbers, encodeNumbers, Postings, TermLists } from './postings.ts'

/** Postings and new terms collected before they are written; bounds the memory for an enormous document. */
const MOST_ENTRIES = 1_000_000
const MOST_NEW_TERMS = 150_000
/** Chunks between two progress reports. */
const REPORT_EVERY = 128
/** With fewer removed chunks, compaction is not worth its cost. */
const FEW_CHUNKS = 64
const FEW_TERMS = 1024
const LONGEST = 0xffff

type IndexedChunk = Pick<Chunk, 'id' | 'title' | 'headings' | 'names' | 'text'>

/** Chunks whose terms are collected but not yet written. */
interface Batch {
  readonly ids: number[]
  readonly keys: number[]
  readonly lengths: number[]
}

export class IndexWriter {
  readonly #connection: Connection
  readonly #lexicon: Lexicon
  readonly #postings: InvertedIndex
  readonly #grams: InvertedIndex
  readonly #lists = new TermLists()
  readonly #onAdded: ((chunks: number) => void) | undefined

  /** @param onAdded receives, from time to time, the number of chunks that `add` has indexed so far. */
  constructor(connection: Connection, onAdded?: (chunks: number) => void) {
    this.#connection = connection
    this.#onAdded = onAdded
    this.#lexicon = new Lexicon(connection)
    this.#postings = new InvertedIndex(connection, 'postings')
    this.#grams = new InvertedIndex(connection, 'grams')
  }

  /** Indexes chunks under ascending ids, higher than all existing ones. */
  add(chunks: Iterable<readonly [id: number, chunk: IndexedChunk]>): void {
    this.#lexicon.begin()
    let batch: Batch = { ids: [], keys: [], lengths: [] }
    let added = 0
    for (const [id, chunk] of chunks) {
      if (added++ % REPORT_EVERY === 0) this.#onAdded?.(added)
      const sequence = this.#sequence(chunk)
      this.#connection.run('INSERT INTO sequences (id, terms) VALUES (?, ?)', [id, encodeNumbers(sequence)])
      batch.ids.push(id)
      batch.keys.push(tieKey(chunk.id))
      batch.lengths.push(this.#count(id, sequence))
      if (this.#lists.size < MOST_ENTRIES && this.#lexicon.added < MOST_NEW_TERMS) continue
      this.#write(batch)
      batch = { ids: [], keys: [], lengths: [] }
    }
    if (batch.ids.length > 0) this.#write(batch)
  }

  /** Removes chunks from the index. Their postings stay, ignored, until more chunks are removed than alive. */
  remove(ids: readonly number[]): void {
    const lengths: number[] = []
    const gone: number[] = []
    for (const id of ids.toSorted((a, b) => a - b)) {
      const row = this.#connection.get<{ terms: Uint8Array }>('DELETE FROM sequences WHERE id = ? RETURNING terms', [id])
      if (row === undefined) continue
      gone.push(id)
      lengths.push(-this.#count(id, decodeNumbers(row.terms)))
    }
    this.#addFrequencies(this.#lists.terms(), -1)
    this.#lists.clear()
    this.#addLengths(gone, lengths)
    changeNumbers(this.#connection, 'keys', gone, () => 0)
    this.#compact()
  }

  /** Records that the index has changed; call it last in a transaction that added or removed something. */
  noteChange(): void {
    addToFact(this.#connection, 'changes', 1)
    this.#lexicon.end(readFact(this.#connection, 'changes'))
  }

  /** Drops cached state that a failed transaction may have added. */
  forget(): void {
    this.#lexicon.forget()
    this.#lists.clear()
  }

  #write({ ids, keys, lengths }: Batch): void {
    this.#addGrams(this.#lexicon.takeAdded())
    const terms = this.#lists.terms()
    this.#postings.add(ids[0] ?? 0, ids.length, this.#lists.lists(terms))
    this.#addFrequencies(terms, 1)
    this.#lists.clear()
    this.#addLengths(ids, lengths)
    changeNumbers(this.#connection, 'keys', ids, (_, at) => keys[at] ?? 0)
  }

  /** Counts the terms of a chunk, multiplied by the weight of title and headings; returns the length of the chunk. */
  #count(id: number, sequence: readonly number[]): number {
    let field = 0
    let length = 0
    for (const term of sequence) {
      if (term === MARK) {
        field++
        continue
      }
      const weight = WEIGHTS[field] ?? 1
      this.#lists.add(term, id, weight)
      length += weight
    }
    // A chunk of only stop words exists too.
    return Math.min(Math.max(1, length), LONGEST)
  }

  #sequence({ title, headings = [], names = [], text }: IndexedChunk): number[] {
    const sequence: number[] = []
    if (title !== undefined) this.#lexicon.read(title, sequence)
    sequence.push(MARK)
    for (const heading of [...headings, ...names]) this.#lexicon.read(heading, sequence)
    sequence.push(MARK)
    this.#lexicon.read(text, sequence)
    return sequence
  }

  /** Stores with each gram the number of grams of the term, so that similarity needs no lookup of the term. */
  #addGrams(added: readonly NewTerm[]): void {
    const terms = new Map<string, number[]>()
    for (const { id, term } of added) {
      const grams = gramsOf(term)
      for (const gram of grams) {
        const entries = terms.get(gram)
        if (entries === undefined) terms.set(gram, [id, grams.length])
        else entries.push(id, grams.length)
      }
    }
    if (terms.size > 0) this.#grams.add(added[0]?.id ?? 0, added.length, gramLists(terms))
  }

  #addFrequencies(terms: Int32Array, sign: 1 | -1): void {
    const change = (before: number, at: number): number => before + sign * this.#lists.frequency(terms[at] ?? 0)
    addToFact(this.#connection, 'terms', changeNumbers(this.#connection, 'frequencies', terms, change))
  }

  #addLengths(ids: readonly number[], differences: readonly number[]): void {
    const gained = changeNumbers(this.#connection, 'lengths', ids, (before, at) => before + (differences[at] ?? 0))
    addToFact(this.#connection, 'chunks', gained)
    addToFact(
      this.#connection,
      'length',
      differences.reduce((sum, difference) => sum + difference, 0),
    )
  }

  /** Compacts once more chunks are removed than alive: the store stays bounded, and each entry is seldom rewritten. */
  #compact(): void {
    const connection = this.#connection
    const nextChunk = readFact(connection, 'next_chunk')
    const chunks = readFact(connection, 'chunks')
    if (nextChunk - readFact(connection, 'compacted_chunks') > 2 * chunks + FEW_CHUNKS) {
      const lengths = readNumbers(connection, 'lengths')
      this.#postings.compact(chunks, (id) => (lengths[id] ?? 0) > 0)
      writeFact(connection, 'compacted_chunks', nextChunk - chunks)
    }
    const nextTerm = readFact(connection, 'next_term')
    const terms = readFact(connection, 'terms')
    if (nextTerm - readFact(connection, 'compacted_terms') > 2 * terms + FEW_TERMS) {
      const frequencies = readNumbers(connection, 'frequencies')
      this.#grams.compact(terms, (id) => (frequencies[id] ?? 0) > 0)
      for (const { id } of connection.all<{ id: number }>('SELECT id FROM terms')) {
        if ((frequencies[id] ?? 0) === 0) connection.run('DELETE FROM terms WHERE id = ?', [id])
      }
      writeFact(connection, 'compacted_terms', nextTerm - terms)
      this.#lexicon.forget()
    }
  }
}

function* gramLists(terms: ReadonlyMap<string, readonly number[]>): Generator<readonly [string, Postings]> {
  const list = new Postings()
  for (const gram of [...terms.keys()].sort(compareKeys)) {
    list.clear()
    const entries = terms.get(gram) ?? []
    for (let at = 0; at < entries.length; at += 2) list.add(entries[at] ?? 0, entries[at + 1] ?? 1)
    yield [gram, list]
  }
}

/** Returns a tie-breaker for chunks of equal score that is the same in every store. */
function tieKey(chunkId: string): number {
  return Number.parseInt(hash('sha256', chunkId).slice(0, 8), 16)
}
