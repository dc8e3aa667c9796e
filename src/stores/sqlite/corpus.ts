/** What every query needs to know of all chunks; read once and kept until the index changes. */

import type { CorpusSize } from '../rank/bm25.ts'
import type { Scored } from '../rank/best.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readFact } from './facts.ts'
import { readNumbers } from './numbers.ts'

export interface Corpus extends CorpusSize {
  /** Terms of each chunk by id, weighted by field; 0 where there is no chunk. */
  readonly lengths: Uint32Array
  /** Orders chunks of equal score. */
  readonly keys: Uint32Array
  /** Chunks that have each term, by id; 0 for a term that none has. */
  readonly frequencies: Uint32Array
  /** Different terms there are. */
  readonly terms: number
}

export class CorpusCache {
  #changes = -1
  #corpus: Corpus | undefined

  /** Inside the snapshot in which the query is answered. */
  of(connection: Connection): Corpus {
    const changes = readFact(connection, 'changes')
    if (this.#corpus === undefined || changes !== this.#changes) {
      const chunks = readFact(connection, 'chunks')
      this.#corpus = {
        chunks,
        averageLength: chunks === 0 ? 1 : readFact(connection, 'length') / chunks,
        terms: readFact(connection, 'terms'),
        lengths: readNumbers(connection, 'lengths'),
        keys: readNumbers(connection, 'keys'),
        frequencies: readNumbers(connection, 'frequencies'),
      }
      this.#changes = changes
    }
    return this.#corpus
  }
}

export function emptyScores({ lengths, keys }: Corpus): Scored {
  return { scores: new Float64Array(lengths.length), keys }
}
