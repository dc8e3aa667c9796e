/** Makes the vectors of a store and those of questions. Loaded by stores that have an embedding model. */

import type { EmbeddingModel } from '../../core/embedding.ts'
import { CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import type { StoreNotice } from '../../core/store.ts'
import { orAborted } from '../../util/promise.ts'
import { Recent } from '../../util/recent.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { Asker, embedOnce } from '../vectors/ask.ts'
import { beginning, cutToTokens } from '../vectors/text.ts'
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
  /** Chunks that have their vector, of those that had none when the run began. */
  readonly done: number
  readonly total: number
}

/** The result of one run of making vectors. */
export interface EmbedReport {
  /** The embedding model. */
  readonly model: string
  /** Chunks that have got a vector. */
  readonly embedded: number
  /** Chunks without text, or whose text has no place in the space: words alone find them. */
  readonly skipped: number
  /** Chunks of which only the beginning was read. */
  readonly cut: number
}

/** Options of one run of making vectors. */
export interface EmbedRunOptions {
  /** Aborting it ends the run; what was stored stays. */
  readonly signal?: AbortSignal
  /** Called after each batch. */
  readonly onProgress?: (progress: EmbedProgress) => void
}

export interface EmbeddingsOptions {
  /** Name of the store, for messages. */
  readonly store: string
  /** Vectors of another model are made again. */
  readonly replace: boolean
  /** Calls `work`, which writes, when nobody else has the file to himself, and not once the signal is aborted. */
  readonly alone: <T>(work: () => T, signal: AbortSignal | undefined) => Promise<T>
}

/** Errors that have to do with what was asked, not with the moment. */
const ABOUT_TEXTS: ReadonlySet<string> = new Set(['invalid_response', 'invalid_request', 'context_length'])
/** Sources that an error names. */
const MOST_NAMED = 3
/** Requests under way at once. */
const CONCURRENCY = 4
/** A question that cannot be placed in this time is answered by its words alone. */
const QUERY_PATIENCE_MS = 10_000
/** Characters of a question that are read: providers refuse what is too long, and search by words reads all of it. */
const LONGEST_QUERY = 8000
/** Questions that are remembered: one that is asked again, for more results, costs nothing. */
const REMEMBERED = 64
const PROBE = 'The quick brown fox jumps over the lazy dog.'
/** Rounding and other hardware change a vector less than this; another model changes it much more. */
const SAME = 0.98

export class Embeddings {
  readonly #connection: Connection
  readonly #model: EmbeddingModel
  readonly #options: EmbeddingsOptions
  readonly #asker: Asker
  readonly #asked = new Recent<Promise<QueryVector>>(REMEMBERED)
  /** The embedder that is known to be of this model. */
  #mine: number | undefined

  constructor(connection: Connection, model: EmbeddingModel, options: EmbeddingsOptions) {
    this.#connection = connection
    this.#model = model
    this.#options = options
    this.#asker = new Asker(model)
  }

  /**
   * Makes the vectors that are missing. What is done is kept when it is stopped or fails, and the next run goes on from there. Vectors of another
   * model stay, and are searched by whoever has that model, until these are complete and take their place.
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
    // Chunks have ascending numbers: what is added meanwhile comes later.
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
    // What is under way when one request fails is waited for: it has been paid for.
    await Promise.all(Array.from({ length: this.#model.parallel === false ? 1 : CONCURRENCY }, work))
    if (failures.length > 0) throw failures[0]
    await this.#write(signal, () => finish(this.#connection, embedder, last))
    return { ...report, ...counts }
  }

  /**
   * A question as a vector; or a notice that says why there is none, where that is worth saying.
   *
   * @throws ConfigurationError when the vectors are of another model; the reason of the signal when it is aborted.
   */
  async query(query: string, signal: AbortSignal | undefined): Promise<EmbeddedQuery> {
    const embedder = this.#own()
    if (embedder === undefined || !embedder.isCurrent) {
      const isEmpty = readFact(this.#connection, 'chunks') === 0
      return isEmpty ? {} : { notice: wordsAlone(`the vectors of ${this.#model.ref} are not complete yet`) }
    }
    const { maxTokens = LONGEST_QUERY } = this.#model
    const text = cutToTokens(beginning(query, LONGEST_QUERY), maxTokens)
    const key = `${embedder.id} ${text}`
    let asked = this.#asked.get(key)
    if (asked === undefined) {
      asked = this.#askOnce(embedder, text)
      this.#asked.set(key, asked)
      asked.catch(() => this.#asked.delete(key))
    }
    try {
      // Others may wait for the same vector: it is not taken from them when one leaves.
      return { vector: await (signal === undefined ? asked : orAborted(asked, signal)) }
    } catch (error) {
      signal?.throwIfAborted()
      // A mismatch is no passing trouble: it names the vectors that are there.
      const isMismatch = isCriaError(error) && error.code === 'configuration' && error.details?.['held'] !== undefined
      if (!isCriaError(error) || error.code === 'aborted' || isMismatch) throw error
      return { notice: wordsAlone(error.message) }
    }
  }

  async #askOnce(embedder: Embedder, text: string): Promise<QueryVector> {
    const signal = AbortSignal.timeout(QUERY_PATIENCE_MS)
    // Nobody waits for a second attempt while a question is open: words answer it.
    const check = this.#mine === embedder.id ? undefined : embedOnce(this.#model, [PROBE], 'document', signal)
    // Both are under way at once, and neither is left alone when the other fails.
    const [found, probe] = await Promise.allSettled([embedOnce(this.#model, [text], 'query', signal), check])
    if (found.status === 'rejected') throw toCriaError(found.reason, 'network')
    if (probe.status === 'rejected') throw toCriaError(probe.reason, 'network')
    if (probe.value !== undefined) this.#checkProbe(embedder, probe.value[0] ?? new Float32Array())
    const [vector = new Float32Array(embedder.dimensions)] = found.value
    this.#check(embedder, wrongLength(embedder, vector))
    return { embedder: embedder.id, vector }
  }

  /** The embedder that this model goes on with; made when there is none. Removes unfinished ones of other models. */
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

  /** One transaction. Nothing is written by who was stopped meanwhile. */
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
    throw new CriaError('invalid_response', `${this.#model.ref} answered an ordinary sentence with a vector of zeros.`, {
      retryable: false,
      hint: 'Check that its server has loaded an embedding model, or name another one.',
    })
  }

  /** Remembers the embedder when the probe says that it is of this model. */
  #checkProbe(embedder: Embedder, probe: Float32Array): void {
    this.#check(embedder, differenceOf(embedder, probe))
    this.#mine = embedder.id
  }

  /** @throws ConfigurationError where anything differs. */
  #check(embedder: Embedder, difference: string | undefined): void {
    if (difference !== undefined) throw mismatch(difference, embedder, this.#model, this.#options.store)
  }

  async #embed(
    embedder: Embedder,
    rows: readonly ChunkText[],
    signal: AbortSignal | undefined,
  ): Promise<Omit<EmbedReport, 'model'>> {
    const texts = rows.map(madeOf)
    // Empty texts are refused by providers, and equal ones are asked for once.
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

  /** An error that is about the texts says whose they are. */
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
    return new CriaError(error.code, `${error.message} It was asked for ${named.join(', ')}.`, {
      ...error.toJSON(),
      details: { ...error.details, sources: sources.slice(0, MOST_NAMED) },
      cause: error,
    })
  }
}

/** What keeps vectors of the model that made this probe from standing beside those of the embedder. */
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
