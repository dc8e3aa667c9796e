/** Keeps the index in step with the chunks. Everything here happens inside the caller's transaction. */

import { hash } from 'node:crypto'
import type { Analyzer } from '../../text/analyzer.ts'
import type { Chunk } from '../../core/store.ts'
import { gramsOf } from '../rank/similarity.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { addToFact, readFact, writeFact } from './facts.ts'
import { InvertedIndex } from './inverted.ts'
import type { Entry, Key } from './inverted.ts'
import { storedLength, writeLengths } from './lengths.ts'
import type { ChunkLength } from './lengths.ts'
import { countTerms, decodeSequence, encodeSequence } from './sequence.ts'
import type { Fields } from './sequence.ts'

/** Chunks that are analysed before their terms are written; bounds the memory that an enormous document takes. */
const BATCH = 1024
/** Ids of terms that are remembered; bounds memory. */
const MAX_KNOWN_TERMS = 100_000

/** Terms whose groups of characters are taken out together; bounds memory. */
const MAX_FORGOTTEN_TERMS = 50_000

export type IndexedChunk = Pick<Chunk, 'id' | 'title' | 'headings' | 'names' | 'text'>

interface SequenceRow {
  readonly id: number
  readonly terms: Uint8Array
}

export function postingsOf(connection: Connection): InvertedIndex {
  return new InvertedIndex(connection, 'postings', function* (first, end) {
    const rows = connection.all<SequenceRow>('SELECT id, terms FROM sequences WHERE id >= ? AND id < ?', [first, end])
    for (const { terms } of rows) for (const term of decodeSequence(terms)) if (term !== 0) yield term
  })
}

export function gramIndexOf(connection: Connection): InvertedIndex {
  return new InvertedIndex(connection, 'grams', function* (first, end) {
    const rows = connection.all<{ term: string }>('SELECT term FROM terms WHERE id >= ? AND id < ?', [first, end])
    for (const { term } of rows) yield* gramsOf(term)
  })
}

export class IndexWriter {
  readonly #connection: Connection
  readonly #analyzer: Analyzer
  readonly #postings: InvertedIndex
  readonly #grams: InvertedIndex
  #known = { changes: -1, ids: new Map<string, number>() }

  constructor(connection: Connection, analyzer: Analyzer) {
    this.#connection = connection
    this.#analyzer = analyzer
    this.#postings = postingsOf(connection)
    this.#grams = gramIndexOf(connection)
  }

  /** Indexes chunks under ids that are higher than all there were. */
  add(chunks: readonly (readonly [id: number, chunk: IndexedChunk])[]): void {
    for (let from = 0; from < chunks.length; from += BATCH) this.#addBatch(chunks.slice(from, from + BATCH))
  }

  /** Takes chunks out of the index. */
  remove(ids: readonly number[]): void {
    const connection = this.#connection
    const lost = new Map<number, number>()
    let length = 0
    for (const id of ids) {
      const row = connection.get<SequenceRow>('SELECT id, terms FROM sequences WHERE id = ?', [id])
      if (row === undefined) continue
      const counts = countTerms(decodeSequence(row.terms))
      for (const term of counts.keys()) lost.set(term, (lost.get(term) ?? 0) + 1)
      length += storedLength(sum(counts.values()))
      connection.run('DELETE FROM sequences WHERE id = ?', [id])
    }
    this.#lose(lost)
    writeLengths(
      connection,
      ids.map((id) => ({ id, length: 0, key: 0 })),
    )
    addToFact(connection, 'chunks', -ids.length)
    addToFact(connection, 'length', -length)
  }

  /** Says that the index is another one now; the last thing in a transaction that added or removed something. */
  noteChange(): void {
    addToFact(this.#connection, 'changes', 1)
    this.#known.changes++
  }

  /** Forgets what a transaction that failed may have learnt. */
  forget(): void {
    this.#known = { changes: -1, ids: new Map() }
  }

  #addBatch(chunks: readonly (readonly [id: number, chunk: IndexedChunk])[]): void {
    const connection = this.#connection
    const analysed = chunks.map(([id, chunk]) => [id, chunk, this.#fields(chunk)] as const)
    const ids = this.#learn(analysed.map(([, , fields]) => new Set(fields.flat())))
    const idsOf = (terms: readonly string[]): number[] => terms.map((term) => ids.get(term) ?? 0)
    const entries: Entry[] = []
    const lengths: ChunkLength[] = []
    for (const [id, chunk, [title, headings, text]] of analysed) {
      const sequence = encodeSequence([idsOf(title), idsOf(headings), idsOf(text)])
      const counts = countTerms(decodeSequence(sequence))
      connection.run('INSERT INTO sequences (id, terms) VALUES (?, ?)', [id, sequence])
      entries.push([id, counts])
      lengths.push({ id, length: storedLength(sum(counts.values())), key: tieKey(chunk.id) })
    }
    this.#postings.add(entries)
    writeLengths(connection, lengths)
    addToFact(connection, 'chunks', chunks.length)
    addToFact(connection, 'length', sum(lengths.map(({ length }) => length)))
  }

  #fields({ title, headings = [], names = [], text }: IndexedChunk): Fields<string> {
    const analyzer = this.#analyzer
    return [
      title === undefined ? [] : analyzer.terms(title),
      [...headings, ...names].flatMap((heading) => analyzer.terms(heading)),
      analyzer.terms(text),
    ]
  }

  /** Counts the chunks of each term, those that are new among them; returns the ids. */
  #learn(termsByChunk: readonly ReadonlySet<string>[]): Map<string, number> {
    const gained = new Map<string, number>()
    for (const terms of termsByChunk) for (const term of terms) gained.set(term, (gained.get(term) ?? 0) + 1)
    const known = this.#knownTerms()
    const ids = new Map<string, number>()
    const entries: Entry[] = []
    let next = readFact(this.#connection, 'next_term')
    for (const term of [...gained.keys()].sort()) {
      const times = gained.get(term) ?? 0
      let id = known.get(term)
      if (id !== undefined) {
        this.#connection.run('UPDATE terms SET frequency = frequency + ? WHERE id = ?', [times, id])
      } else {
        id =
          this.#connection.get<{ id: number }>(
            `INSERT INTO terms (id, term, frequency) VALUES (?, ?, ?)
             ON CONFLICT (term) DO UPDATE SET frequency = frequency + excluded.frequency RETURNING id`,
            [next, term, times],
          )?.id ?? next
        known.set(term, id)
        if (id === next) {
          next++
          const grams = gramsOf(term)
          // With each gram stands how many the term has: enough to tell how alike it is without looking it up.
          if (grams.length > 0) entries.push([id, new Map<Key, number>(grams.map((gram) => [gram, grams.length]))])
        }
      }
      ids.set(term, id)
    }
    this.#grams.add(entries)
    addToFact(this.#connection, 'terms', next - readFact(this.#connection, 'next_term'))
    writeFact(this.#connection, 'next_term', next)
    return ids
  }

  /** Ids that were looked up before and still hold: nobody else has changed the index meanwhile. */
  #knownTerms(): Map<string, number> {
    const changes = readFact(this.#connection, 'changes')
    if (changes !== this.#known.changes || this.#known.ids.size > MAX_KNOWN_TERMS) this.#known = { changes, ids: new Map() }
    return this.#known.ids
  }

  /** Some chunks less have these terms; those that none has are forgotten. */
  #lose(lost: ReadonlyMap<number, number>): void {
    const connection = this.#connection
    let grams = new Map<Key, Set<number>>()
    let forgotten = 0
    for (const [id, times] of lost) {
      const row = connection.get<{ term: string; frequency: number }>(
        'UPDATE terms SET frequency = frequency - ? WHERE id = ? RETURNING term, frequency',
        [times, id],
      )
      if (row === undefined || row.frequency > 0) continue
      connection.run('DELETE FROM terms WHERE id = ?', [id])
      this.#known.ids.delete(row.term)
      this.#postings.forget(id)
      for (const gram of gramsOf(row.term)) {
        const ids = grams.get(gram)
        if (ids === undefined) grams.set(gram, new Set([id]))
        else ids.add(id)
      }
      // Each list is read and written once for many terms.
      if (++forgotten % MAX_FORGOTTEN_TERMS !== 0) continue
      this.#grams.remove(grams)
      grams = new Map()
    }
    this.#grams.remove(grams)
    addToFact(connection, 'terms', -forgotten)
  }
}

/** Orders chunks of equal score in the same way in every store that holds them. */
function tieKey(chunkId: string): number {
  return Number.parseInt(hash('sha256', chunkId).slice(0, 8), 16)
}

function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
