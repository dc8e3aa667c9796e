/** Answers that were given before: the least recently used ones go first, and none is kept for long. */

import type { Clock } from '../core/clock.ts'
import type { FinishReason, ModelRequest } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import { sha256 } from '../util/hash.ts'

export interface ResponseCacheOptions {
  /** Answers at most; default 100. */
  readonly max?: number
  /** Milliseconds an answer is good for; default 300,000. */
  readonly ttl?: number
  /** Keep answers that call tools too: their effects are not repeated by a hit, their calls are. Default false. */
  readonly toolCalls?: boolean
  readonly clock?: Pick<Clock, 'now'>
}

export interface CachedAnswer {
  readonly parts: readonly Part[]
  readonly finishReason: FinishReason
  readonly abstained: boolean
}

interface Entry {
  /** As text, so that nobody who holds an answer can change the one that is kept. */
  readonly json: string
  readonly until: number
}

export class ResponseCache {
  readonly toolCalls: boolean
  readonly #max: number
  readonly #ttl: number
  readonly #clock: Pick<Clock, 'now'>
  readonly #entries = new Map<string, Entry>()
  readonly #flights = new Map<string, Promise<void>>()

  constructor({ max = 100, ttl = 300_000, toolCalls = false, clock = Date }: ResponseCacheOptions = {}) {
    this.#max = max
    this.#ttl = ttl
    this.#clock = clock
    this.toolCalls = toolCalls
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): CachedAnswer | undefined {
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    if (entry === undefined || entry.until <= this.#clock.now()) return undefined
    this.#entries.set(key, entry)
    return JSON.parse(entry.json) as CachedAnswer
  }

  set(key: string, { parts, finishReason, abstained }: CachedAnswer): void {
    this.#entries.delete(key)
    this.#entries.set(key, { json: JSON.stringify({ parts, finishReason, abstained }), until: this.#clock.now() + this.#ttl })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max) break
      this.#entries.delete(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Settles when the call for this key that is under way has ended, however it ended; `undefined` when there is none. */
  underWay(key: string): Promise<void> | undefined {
    return this.#flights.get(key)
  }

  /** Announces a call for this key; the function that is returned says that it has ended. */
  begin(key: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flights.set(key, promise)
    return () => {
      this.#flights.delete(key)
      resolve()
    }
  }
}

/** Everything that determines the answer: the whole request as the model gets it, its order of members aside. */
export function cacheKey(request: ModelRequest): string {
  return sha256(canonicalJson(request))
}
