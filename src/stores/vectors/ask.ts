/** Requests many vectors from an embedding model: splits batches at its limits, retries where that may help, and cuts long texts. */

import type { EmbeddingModel } from '../../core/retrieval-models.ts'
import { CriaError, isCriaError, toCriaError } from '../../core/error.ts'
import { backoff, DEFAULT_BACKOFF } from '../../util/backoff.ts'
import { beginningOf } from '../../util/lines.ts'
import { orAborted } from '../../util/promise.ts'
import { systemClock } from '../../util/clock.ts'
import { toUnit } from './unit.ts'

export interface Embedded {
  /** Of length 1; `undefined` for a zero vector. */
  readonly vector: Float32Array | undefined
  /** True if only the beginning of the text was embedded. */
  readonly cut: boolean
}

/** Clock and random numbers, replaced in tests. */
export interface Waiting {
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  random(): number
}

const SYSTEM: Waiting = { sleep: (ms, signal) => systemClock.sleep(ms, signal), random: Math.random }

/** Texts in one request, unless the model takes fewer: vectors are stored after each, so that a failure loses little. */
const BATCH = 64
const ATTEMPTS = 6
/** An unreadable answer may have been cut off in transit; after a second one, retrying does not help. */
const ATTEMPTS_IF_INVALID = 2
/** Characters of a text that an error quotes. */
const EXCERPT = 80
/** A text still refused at this length has another problem. */
const SHORTEST_CUT = 200

export class Asker {
  readonly #model: EmbeddingModel
  readonly #waiting: Waiting
  #batch: number

  constructor(model: EmbeddingModel, waiting: Waiting = SYSTEM) {
    this.#model = model
    this.#waiting = waiting
    this.#batch = Math.floor(Math.min(BATCH, model.maxBatch ?? BATCH))
  }

  /** Most texts worth passing at once. Decreases when the provider accepts fewer than expected. */
  get batch(): number {
    return this.#batch
  }

  /** @param texts without blank ones. @throws CriaError */
  async embed(texts: readonly string[], signal: AbortSignal | undefined): Promise<Embedded[]> {
    const { maxTokens } = this.#model
    const cut = texts.map((text) => (maxTokens === undefined ? text : cutToTokens(text, maxTokens)))
    const found = await this.#inParts(cut, signal)
    return found.map((each, at) => ({ ...each, cut: each.cut || cut[at] !== texts[at] }))
  }

  /** Sends one request; if it is refused and has several texts, splits it into halves. */
  async #inParts(texts: readonly string[], signal: AbortSignal | undefined): Promise<Embedded[]> {
    if (texts.length > this.#batch) return this.#halves(texts, signal)
    try {
      const vectors = await this.#request(texts, signal)
      return vectors.map((vector) => ({ vector, cut: false }))
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (texts.length > 1) {
        const parts = await this.#halves(texts, signal)
        // Both halves succeeded, so that the batch size was the problem, not a text.
        if (!parts.some((part) => part.cut)) this.#batch = Math.min(this.#batch, Math.ceil(texts.length / 2))
        return parts
      }
      const [text = ''] = texts
      if (!isTooLong(error) || text.length < SHORTEST_CUT) throw error
      const [rest] = await this.#inParts([beginningOf(text, text.length >> 1)], signal)
      return [{ vector: rest?.vector, cut: true }]
    }
  }

  async #halves(texts: readonly string[], signal: AbortSignal | undefined): Promise<Embedded[]> {
    const middle = Math.ceil(texts.length / 2)
    const first = await this.#inParts(texts.slice(0, middle), signal)
    return [...first, ...(await this.#inParts(texts.slice(middle), signal))]
  }

  /** Repeats a request while that may help; waits as long as the provider asks, else as `backoff` says. */
  async #request(texts: readonly string[], signal: AbortSignal | undefined): Promise<(Float32Array | undefined)[]> {
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      try {
        return await embedOnce(this.#model, texts, 'document', signal)
      } catch (error) {
        signal?.throwIfAborted()
        if (!isCriaError(error) || !error.retryable) throw error
        if (attempt >= (error.code === 'invalid_response' ? ATTEMPTS_IF_INVALID : ATTEMPTS)) throw error
        const asked = error.details?.['retryAfterMs']
        const wait =
          typeof asked === 'number'
            ? Math.min(asked, DEFAULT_BACKOFF.maxDelay)
            : backoff(attempt, DEFAULT_BACKOFF, this.#waiting.random())
        await this.#waiting.sleep(wait, signal)
      }
    }
  }
}

/** Sends one request; on abort, stops waiting for a model that ignores its signal. @throws CriaError */
export async function embedOnce(
  model: EmbeddingModel,
  texts: readonly string[],
  purpose: 'document' | 'query',
  signal: AbortSignal | undefined,
): Promise<(Float32Array | undefined)[]> {
  let vectors: unknown
  try {
    const asked = model.embed(texts, { purpose, ...(signal === undefined ? {} : { signal }) })
    vectors = await (signal === undefined ? asked : orAborted(Promise.resolve(asked), signal))
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    throw toCriaError(error, 'invalid_response')
  }
  if (!Array.isArray(vectors) || vectors.length !== texts.length || !vectors.every((each) => each instanceof Float32Array)) {
    throw new CriaError(
      'invalid_response',
      `${model.ref}: expected ${texts.length} vectors as Float32Array, one for each text.`,
      {
        // A wrong answer is the model's fault, so that a retry does not help.
        retryable: false,
      },
    )
  }
  return vectors.map((vector, at) => {
    try {
      return toUnit(vector, model.ref)
    } catch (error) {
      if (!isCriaError(error)) throw error
      throw new CriaError(error.code, error.message, {
        ...error.toJSON(),
        details: { text: beginningOf(texts[at] ?? '', EXCERPT) },
      })
    }
  })
}

/** Reports whether the request itself was refused, so that a retry cannot help. */
function isRefusal(error: unknown): boolean {
  return isCriaError(error) && (error.code === 'invalid_request' || error.code === 'context_length')
}

/** Reports whether the text may be too long, also for servers that give no reason. */
function isTooLong(error: unknown): boolean {
  return isCriaError(error) && (error.code === 'context_length' || error.status === 400 || error.status === 413)
}

/**
 * Returns the beginning of a text with at most so many estimated tokens: three Latin characters count as a token, any other character as one. That
 * overestimates the tokens of nearly every text.
 */
export function cutToTokens(text: string, maxTokens: number): string {
  if (text.length <= maxTokens) return text
  let tokens = 0
  for (let at = 0; at < text.length; at++) {
    tokens += text.charCodeAt(at) < 0x250 ? 1 / 3 : 1
    if (tokens > maxTokens) return beginningOf(text, at)
  }
  return text
}
