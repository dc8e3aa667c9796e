/** Keeps answers for requests that are asked again, in memory or in a store. */

import type { CacheStore, Keeping } from '../core/cache.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigurationError } from '../core/error.ts'
import type { FinishReason, LanguageModel, ModelRequest, QuotedPassage } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { canonicalJson, nameOfObject, sha256 } from '../util/hash.ts'
import { describe } from '../util/check.ts'
import { namesOf, unknownOption } from '../util/nearest.ts'
import { Flight } from './answer-reader.ts'
import type { Seat } from './answer-reader.ts'

/** Options of `new ResponseCache()`. */
export interface ResponseCacheOptions {
  /** Answers at most; default 100. */
  readonly max?: number
  /** Milliseconds an answer is good for; default 300,000. */
  readonly ttl?: number
  /** Keep answers that call tools too: their effects are not repeated by a hit, their calls are. Default false. */
  readonly toolCalls?: boolean
  /** Where answers are kept: the `cache` of a recorder, which all who share its journal have in common. Default: in this process. */
  readonly store?: CacheStore
  /** Tells the time; default the clock of the system. */
  readonly clock?: Pick<Clock, 'now'>
}

const OPTIONS = namesOf<ResponseCacheOptions>({ max: true, ttl: true, toolCalls: true, store: true, clock: true })

/** An answer as a cache keeps it. */
export interface CachedAnswer {
  /** Text, thinking and tool calls, in order. */
  readonly parts: readonly Part[]
  /** Why the model stopped. */
  readonly finishReason: FinishReason
  /** The model said that its passages do not hold the answer. */
  readonly abstained: boolean
  /** Passages that the model quoted itself; absent where it quoted none. */
  readonly citations?: readonly QuotedPassage[]
}

/** Keeps whole answers and gives them again to equal requests; `cache` of `query()` and bots takes one. */
export class ResponseCache {
  /** Answers that call tools are kept as well; default false. */
  readonly toolCalls: boolean
  readonly #max: number
  readonly #ttl: number
  readonly #store: CacheStore
  readonly #clock: Pick<Clock, 'now'>
  readonly #flights = new Map<string, Flight>()

  /** @throws ConfigurationError that names the option, what was expected and what came. */
  constructor(options: ResponseCacheOptions = {}) {
    const { max = 100, ttl = 300_000, toolCalls = false, store, clock = Date } = options
    const wrong = unknownOption(options, OPTIONS)
    if (wrong !== undefined) throw new ConfigurationError(`ResponseCache has ${wrong.problem}`, wrong)
    for (const [name, value] of Object.entries({ max, ttl }))
      if (typeof value !== 'number' || !(value >= 0))
        throw new ConfigurationError(`\`${name}\` must be a number of at least 0, but is ${describe(value)}.`)
    this.#max = max
    this.#ttl = ttl
    this.#store = store ?? new MemoryCache()
    this.#clock = clock
    this.toolCalls = toolCalls
  }

  /** A copy: whoever changes it changes nothing that is kept. A store that fails has no answer. */
  async get(key: string): Promise<CachedAnswer | undefined> {
    try {
      const entry = await this.#store.get(key, this.#clock.now())
      return entry === undefined ? undefined : decode(key, entry)
    } catch {
      return undefined
    }
  }

  /** Keeps an answer. Where the store fails the next one who asks is answered by the model. */
  async set(key: string, answer: CachedAnswer): Promise<void> {
    const now = this.#clock.now()
    try {
      await this.#store.set(key, encode(key, answer), { now, until: now + this.#ttl, max: this.#max })
    } catch {
      // The answer itself is on its way.
    }
  }

  /** Forgets all answers. */
  async clear(): Promise<void> {
    await this.#store.clear()
  }

  /** A place among those who ask the same now; to be left when the answer is there, and kept. */
  seat(key: string): Seat {
    let flight = this.#flights.get(key)
    if (flight === undefined) {
      flight = new Flight(() => this.#flights.delete(key))
      this.#flights.set(key, flight)
    }
    return flight.seat()
  }
}

/**
 * Everything that determines the answer: the whole request as the model gets it (its order of members aside), and which of the models of that name
 * it is. Ids of calls do not count, only which result belongs to which call: an answer that is given again has new ones. A hash, so that what is
 * kept under it tells neither questions nor keys.
 */
export function cacheKey(request: ModelRequest, model: Pick<LanguageModel, 'ref' | 'identity'>): string {
  return sha256(canonicalJson({ model: model.identity ?? nameOfObject(model), request: withNumberedCalls(request) }))
}

/** With the number of each call in the place of its id. */
function withNumberedCalls(request: ModelRequest): unknown {
  const numbers = new Map<string, number>()
  const numbered = (part: Part): unknown => {
    if (part.type !== 'tool-call' && part.type !== 'tool-result') return part
    if (!numbers.has(part.id)) numbers.set(part.id, numbers.size)
    return { ...part, id: numbers.get(part.id) }
  }
  const messages = request.messages.map(({ toolCalls: _, ...message }) => ({ ...message, parts: message.parts.map(numbered) }))
  return { ...request, messages }
}

/** Goes up when what is kept changes its form: what was kept before is then not understood, and not found. */
const FORMAT = 'cria-answer-1'

/** The hash binds it to its key and tells when it was damaged. */
function encode(key: string, { parts, finishReason, abstained, citations }: CachedAnswer): string {
  const body = JSON.stringify({ parts, finishReason, abstained, citations })
  return `${FORMAT} ${sha256(key + body)} ${body}`
}

function decode(key: string, entry: string): CachedAnswer | undefined {
  const [format, hash] = entry.split(' ', 2)
  if (format !== FORMAT || hash === undefined) return undefined
  const body = entry.slice(format.length + hash.length + 2)
  return sha256(key + body) === hash ? (JSON.parse(body) as CachedAnswer) : undefined
}

export class MemoryCache implements CacheStore {
  /** Least recently used first. */
  readonly #entries = new Map<string, { readonly value: string; readonly until: number }>()

  get(key: string, now: number): string | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= now) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: string, { now, until, max }: Keeping): void {
    for (const [other, entry] of this.#entries) if (entry.until <= now) this.#entries.delete(other)
    this.#entries.delete(key)
    this.#entries.set(key, { value, until })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= max) break
      this.#entries.delete(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}
