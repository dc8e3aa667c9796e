/** Caches answers to equal requests, in memory or in a store. */

import type { CacheStore, Keeping } from '../core/storage.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigurationError } from '../core/error.ts'
import type { FinishReason, LanguageModel, ModelRequest, QuotedPassage } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { canonicalJson, nameOfObject, sha256 } from '../util/hash.ts'
import { describe } from '../util/check.ts'
import { namesOf, unknownOption } from '../util/nearest.ts'
import { RequestGroup } from './answer-reader.ts'
import type { GroupMember } from './answer-reader.ts'

/** Options of `new ResponseCache()`. */
export interface ResponseCacheOptions {
  /** Maximum number of answers; default 100. */
  readonly max?: number
  /** Lifetime of an answer in milliseconds; default 300,000. */
  readonly ttl?: number
  /** `true`: also caches answers with tool calls; a hit makes the calls again. Default false. */
  readonly toolCalls?: boolean
  /** The store of the answers, such as the `cache` of a recorder, shared by all users of its journal. Default: this process. */
  readonly store?: CacheStore
  /** Time source; default the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

const OPTIONS = namesOf<ResponseCacheOptions>({ max: true, ttl: true, toolCalls: true, store: true, clock: true })

/** A cached answer. */
export interface CachedAnswer {
  /** Text, thinking and tool calls, in order. */
  readonly parts: readonly Part[]
  /** Why the model stopped. */
  readonly finishReason: FinishReason
  /** The model said that its passages do not hold the answer. */
  readonly abstained: boolean
  /** Places of quotes, as reported by the model; absent if it reported none. */
  readonly citations?: readonly QuotedPassage[]
}

/** Caches complete answers for equal requests. Pass it as `cache` to `query()` or a bot. */
export class ResponseCache {
  /** `true`: also caches answers with tool calls; default false. */
  readonly toolCalls: boolean
  readonly #max: number
  readonly #ttl: number
  readonly #store: CacheStore
  readonly #clock: Pick<Clock, 'now'>
  readonly #groups = new Map<string, RequestGroup>()

  /** @throws ConfigurationError that names the option, the expected and the received value. */
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

  /** Returns a copy of the answer; `undefined` if there is none or the store fails. */
  async get(key: string): Promise<CachedAnswer | undefined> {
    try {
      const entry = await this.#store.get(key, this.#clock.now())
      return entry === undefined ? undefined : decode(key, entry)
    } catch {
      return undefined
    }
  }

  /** Stores an answer. A failure of the store is ignored: the model answers the next request. */
  async set(key: string, answer: CachedAnswer): Promise<void> {
    const now = this.#clock.now()
    try {
      await this.#store.set(key, encode(key, answer), { now, until: now + this.#ttl, max: this.#max })
    } catch {
      // The answer itself is not affected.
    }
  }

  /** Removes all answers. */
  async clear(): Promise<void> {
    await this.#store.clear()
  }

  /** Joins the group of equal in-flight requests; leave it when the answer is complete and cached. */
  seat(key: string): GroupMember {
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = new RequestGroup(() => this.#groups.delete(key))
      this.#groups.set(key, group)
    }
    return group.join()
  }
}

/**
 * Returns a hash of everything that determines the answer: the request as sent, whatever the order of its members, and the identity of the model.
 * Ids of calls are replaced by numbers, since a repeated answer has new ids. A hash reveals neither questions nor API keys.
 */
export function cacheKey(request: ModelRequest, model: Pick<LanguageModel, 'ref' | 'identity'>): string {
  return sha256(canonicalJson({ model: model.identity ?? nameOfObject(model), request: withNumberedCalls(request) }))
}

/** Replaces the id of each call by its number. */
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

/** Increase when the format changes: entries of an older format are then not found. */
const FORMAT = 'cria-answer-1'

/** The hash ties the entry to its key and detects damage. */
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
