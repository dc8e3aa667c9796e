/** Makes the vectors of a store and those of questions. Loaded only for stores with an embedding model. */

import type { EmbeddingModel } from '../../core/retrieval-models.ts'
import { CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import type { StoreNotice } from '../../core/store.ts'
import { beginningOf } from '../../util/lines.ts'
import { orAborted } from '../../util/promise.ts'
import { Recent } from '../../util/recent.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { Asker, cutToTokens, embedOnce } from '../vectors/ask.ts'
import { dot, fromBytes } from '../vectors/unit.ts'
import { readFact } from './facts.ts'
import type { EmbeddedQuery, QueryVector } from './nearest.ts'
import { chunkRows } from './sources.ts'
import {
  addEmbedder,
  chunksWithout,
  countWithout,
  currentEmbedder,
  embedders,
  finish,
  isMadeBy,
  madeOf,
  mismatch,
  putVectors,
  removeOthers,
} from './vectors.ts'
import type { ChunkText, Embedder } from './vectors.ts'

export interface EmbedProgress {
  /** Chunks that got a vector, of those without a vector at the start of the run. */
  readonly done: number
  readonly total: number
}

/** The result of an embedding run. */
export interface EmbedReport {
  /** The embedding model. */
  readonly model: string
  /** Chunks that got a vector. */
  readonly embedded: number
  /** Chunks without text, or with a zero vector: they are found by words alone. */
  readonly skipped: number
  /** Chunks too long for the model, of which only the beginning was embedded. */
  readonly cut: number
}

/** Options of an embedding run. */
export interface EmbedRunOptions {
  /** Aborting it ends the run; stored vectors stay. */
  readonly signal?: AbortSignal
  /** Called after each batch. */
  readonly onProgress?: (progress: EmbedProgress) => void
}

export interface EmbeddingsOptions {
  /** Name of the store, for messages. */
  readonly store: string
  /** True to replace the vectors of another model. */
  readonly replace: boolean
  /** Runs `work`, which writes, when no other writer is active; does not run it once the signal is aborted. */
  readonly alone: <T>(work: () => T, signal: AbortSignal | undefined) => Promise<T>
}

/** Error codes caused by the texts, not by a temporary state. */
const ABOUT_TEXTS: ReadonlySet<string> = new Set(['invalid_response', 'invalid_request', 'context_length'])
/** Most sources named in an error. */
const MOST_NAMED = 3
/** Most requests in flight. */
const CONCURRENCY = 4
/** Milliseconds after which a question is searched by its words alone. */
const QUERY_PATIENCE_MS = 10_000
/** Characters of a question that are embedded, because providers refuse longer ones; the search by words reads all of it. */
const LONGEST_QUERY = 8000
/** Cached question vectors: repeating a question for more results needs no request. */
const REMEMBERED = 64
const PROBE = 'The quick brown fox jumps over the lazy dog.'
/** Least cosine with the probe's stored vector: rounding and other hardware stay above it, another model falls far below. */
const SAME = 0.98

export class Embeddings {
  readonly #connection: Connection
  readonly #model: EmbeddingModel
  readonly #options: EmbeddingsOptions
  readonly #asker: Asker
  readonly #asked = new Recent<Promise<QueryVector>>(REMEMBERED)
  /** The embedder confirmed to be of this model. */
  #mine: number | undefined

  constructor(connection: Connection, model: EmbeddingModel, options: EmbeddingsOptions) {
    this.#connection = connection
    this.#model = model
    this.#options = options
    this.#asker = new Asker(model)
  }

  /**
   * Makes the missing vectors. A stopped or failed run keeps finished vectors, and the next run continues. Vectors of another model stay, and
   * are searched by processes with that model, until the new vectors are complete and replace them.
   */
  async run({ signal, onProgress }: EmbedRunOptions = {}): Promise<EmbedReport> {
    const counts = { embedded: 0, skipped: 0, cut: 0 }
    const report = { model: this.#model.ref, ...counts }
    signal?.throwIfAborted()
    const known = this.#own()
    const isComplete = known?.isCurrent === true && countWithout(this.#connection, known) === 0
    if (readFact(this.#connection, 'chunks') === 0 || (isComplete && !this.#options.replace)) return report
    const embedder = await this.#begin(signal)
    const total = countWithout(this.#connection, embedder)
    // Chunk ids ascend, so chunks added during the run come later.
    let last = embedder.through
    const next = (): readonly ChunkText[] => {
      const rows = chunksWithout(this.#connection, embedder.id, last, this.#asker.batch)
      last = rows.at(-1)?.id ?? last
      return rows
    }
    const failures: unknown[] = []
    const work = async (): Promise<void> => {
      try {
        for (let rows = next(); rows.length > 0 && failures.length === 0; rows = next()) {
          const done = await this.#embed(embedder, rows, signal)
          counts.embedded += done.embedded
          counts.skipped += done.skipped
          counts.cut += done.cut
          onProgress?.({ done: counts.embedded + counts.skipped, total })
        }
      } catch (error) {
        failures.push(error)
      }
    }
    onProgress?.({ done: 0, total })
    // When a request fails, the requests in flight are still awaited: they are paid for.
    await Promise.all(Array.from({ length: this.#model.parallel === false ? 1 : CONCURRENCY }, work))
    if (failures.length > 0) throw failures[0]
    await this.#write(signal, () => finish(this.#connection, embedder, last))
    return { ...report, ...counts }
  }

  /**
   * Embeds a question; returns a notice if the reason for a missing vector is worth reporting.
   *
   * @throws ConfigurationError when the stored vectors are of another model; the reason of the signal when it is aborted.
   */
  async query(query: string, signal: AbortSignal | undefined): Promise<EmbeddedQuery> {
    const embedder = this.#own()
    if (embedder === undefined || !embedder.isCurrent) {
      const isEmpty = readFact(this.#connection, 'chunks') === 0
      return isEmpty ? {} : { notice: wordsAlone(`the vectors of ${this.#model.ref} are not complete yet`) }
    }
    const { maxTokens = LONGEST_QUERY } = this.#model
    const text = cutToTokens(beginningOf(query, LONGEST_QUERY), maxTokens)
    const key = `${embedder.id} ${text}`
    let asked = this.#asked.get(key)
    if (asked === undefined) {
      asked = this.#askOnce(embedder, text)
      this.#asked.set(key, asked)
      asked.catch(() => this.#asked.delete(key))
    }
    try {
      // Other callers may wait for the same vector, so that an abort of one caller does not cancel the request.
      return { vector: await (signal === undefined ? asked : orAborted(asked, signal)) }
    } catch (error) {
      signal?.throwIfAborted()
      // A mismatch is permanent: its details name the stored vectors.
      const isMismatch = isCriaError(error) && error.code === 'configuration' && error.details?.['held'] !== undefined
      if (!isCriaError(error) || error.code === 'aborted' || isMismatch) throw error
      return { notice: wordsAlone(error.message) }
    }
  }

  async #askOnce(embedder: Embedder, text: string): Promise<QueryVector> {
    const signal = AbortSignal.timeout(QUERY_PATIENCE_MS)
    // A question gets no second attempt: after a failure its words are searched.
    const check = this.#mine === embedder.id ? undefined : embedOnce(this.#model, [PROBE], 'document', signal)
    // Both requests run in parallel, and neither promise floats when the other fails.
    const [found, probe] = await Promise.allSettled([embedOnce(this.#model, [text], 'query', signal), check])
    if (found.status === 'rejected') throw toCriaError(found.reason, 'network')
    if (probe.status === 'rejected') throw toCriaError(probe.reason, 'network')
    if (probe.value !== undefined) this.#checkProbe(embedder, probe.value[0] ?? new Float32Array())
    const [vector = new Float32Array(embedder.dimensions)] = found.value
    this.#check(embedder, wrongLength(embedder, vector))
    return { embedder: embedder.id, vector }
  }

  /** Returns the embedder that this model continues, or a new one. Removes unfinished ones of other models. */
  async #begin(signal: AbortSignal | undefined): Promise<Embedder> {
    const probe = await this.#probe(signal)
    return this.#write(signal, () => {
      const ofThisName = embedders(this.#connection).filter((embedder) => isMadeBy(embedder, this.#model))
      let embedder = ofThisName.find((each) => differenceOf(each, probe) === undefined)
      if (embedder === undefined) {
        const [other] = ofThisName
        if (other !== undefined && !this.#options.replace) this.#checkProbe(other, probe)
        const current = currentEmbedder(this.#connection)
        removeOthers(this.#connection, current === undefined ? [] : [current.id])
        embedder = addEmbedder(this.#connection, this.#model.ref, probe)
      }
      this.#mine = embedder.id
      return embedder
    })
  }

  /** Runs `work` in one transaction. Writes nothing once the signal is aborted. */
  #write<T>(signal: AbortSignal | undefined, work: () => T): Promise<T> {
    return this.#options.alone(() => {
      signal?.throwIfAborted()
      return this.#connection.write(work)
    }, signal)
  }

  #own(): Embedder | undefined {
    const all = embedders(this.#connection)
    return all.find(({ id }) => id === this.#mine) ?? all.find((embedder) => isMadeBy(embedder, this.#model))
  }

  async #probe(signal: AbortSignal | undefined): Promise<Float32Array> {
    const [probe] = await this.#asker.embed([PROBE], signal)
    if (probe?.vector !== undefined) return probe.vector
    throw new CriaError('invalid_response', `${this.#model.ref} returned a zero vector for an ordinary sentence.`, {
      retryable: false,
      hint: 'Check that its server has loaded an embedding model, or name another one.',
    })
  }

  /** Marks the embedder as confirmed when the probe matches its model. */
  #checkProbe(embedder: Embedder, probe: Float32Array): void {
    this.#check(embedder, differenceOf(embedder, probe))
    this.#mine = embedder.id
  }

  /** @throws ConfigurationError if there is a difference. */
  #check(embedder: Embedder, difference: string | undefined): void {
    if (difference !== undefined) throw mismatch(difference, embedder, this.#model, this.#options.store)
  }

  async #embed(
    embedder: Embedder,
    rows: readonly ChunkText[],
    signal: AbortSignal | undefined,
  ): Promise<Omit<EmbedReport, 'model'>> {
    const texts = rows.map(madeOf)
    // Providers refuse empty texts; equal texts are sent once.
    const distinct = [...new Set(texts.filter((text) => text.trim() !== ''))]
    const found = await this.#asker.embed(distinct, signal).catch((error: unknown) => {
      throw this.#naming(error, rows, texts)
    })
    const byText = new Map(distinct.map((text, at) => [text, found[at]]))
    for (const { vector } of found) if (vector !== undefined) this.#check(embedder, wrongLength(embedder, vector))
    const placed = rows.map(({ id }, at) => ({ chunk: id, vector: byText.get(texts[at] ?? '')?.vector }))
    await this.#write(signal, () => {
      if (!embedders(this.#connection).some(({ id }) => id === embedder.id))
        this.#check(embedder, 'another process has begun to make those of another model.')
      putVectors(this.#connection, embedder.id, placed)
    })
    const embedded = placed.filter(({ vector }) => vector !== undefined).length
    const cut = texts.filter((text) => byText.get(text)?.cut === true).length
    return { embedded, skipped: placed.length - embedded, cut }
  }

  /** Adds the sources of the texts to an error about the texts. */
  #naming(error: unknown, rows: readonly ChunkText[], texts: readonly string[]): unknown {
    if (!isCriaError(error) || !ABOUT_TEXTS.has(error.code)) return error
    const text = error.details?.['text']
    const at = typeof text === 'string' ? texts.findIndex((each) => each.startsWith(text)) : -1
    const chunks = at === -1 ? rows : rows.slice(at, at + 1)
    const found = chunkRows(
      this.#connection,
      chunks.map(({ id }) => id),
    )
    const sources = [...new Set(found.map(({ source }) => source))].sort()
    const named = sources.slice(0, MOST_NAMED).map((source) => JSON.stringify(source))
    if (sources.length > MOST_NAMED) named.push(`${sources.length - MOST_NAMED} more`)
    return new CriaError(error.code, `${error.message} The texts were from ${named.join(', ')}.`, {
      ...error.toJSON(),
      details: { ...error.details, sources: sources.slice(0, MOST_NAMED) },
      cause: error,
    })
  }
}

/** Describes why vectors of the model behind this probe cannot be mixed with those of the embedder. */
function differenceOf(embedder: Embedder, probe: Float32Array): string | undefined {
  const length = wrongLength(embedder, probe)
  if (length !== undefined || dot(probe, fromBytes(embedder.probe)) >= SAME) return length
  return 'another model of the same name made them.'
}

function wrongLength({ dimensions }: Embedder, { length }: Float32Array): string | undefined {
  return length === dimensions ? undefined : `they have ${dimensions} numbers, its vectors have ${length}.`
}

function wordsAlone(why: string): StoreNotice {
  return { code: 'words_alone', message: `Searched by words alone: ${why}` }
}
