/**
 * Reads an answer of a provider. Equal requests at the same time share one call: each reader reads the shared answer from its beginning at its
 * own pace. The call is read further when any reader needs more, and closed when the last reader has left.
 */

import type { ModelPart } from '../core/model.ts'

/** A reader of an answer, which may be shared with others. */
export interface AnswerReader {
  next(): Promise<IteratorResult<ModelPart, unknown>>
  /** Returns the parts that have arrived and were not read. */
  unread(): readonly ModelPart[]
  /** `true`: this reader pays for the request, because it made it or inherited it from a reader that left. Final once it has left. */
  readonly pays: boolean
  /** @param gaveUp `true`: the answer took too long, so later requests must not join it. */
  leave(gaveUp: boolean): void
}

/** @param signal aborting it ends the request. */
export type StartRequest = (signal: AbortSignal) => AsyncIterable<ModelPart>

/** A request in a group of equal requests. The group and its calls are kept as long as it has members. */
export interface GroupMember {
  /**
   * Joins a running or just finished call, or starts one.
   * @param limit output limit in tokens.
   */
  open(limit: number | undefined, start: StartRequest): AnswerReader
  /** Leaves the group; the last one to leave removes it. */
  leave(): void
}

/** Abort reason. Never shown, but creating the default error takes milliseconds in a cold process. */
export const OVER = 'The attempt is over.'

/** Makes a request whose answer is not shared, and returns its reader. */
export function readAlone(start: StartRequest): AnswerReader {
  const over = new AbortController()
  const source = start(over.signal)[Symbol.asyncIterator]()
  return { next: () => source.next(), unread: () => [], pays: true, leave: () => close(source, over) }
}

/** Aborts the signal before returning the iterator: a waiting generator cannot return before its wait ends. */
function close(source: AsyncIterator<ModelPart>, over: AbortController): void {
  over.abort(OVER)
  source.return?.().then(undefined, () => {})
}

/** Equal requests that are in flight at the same time. */
export class RequestGroup {
  /** The latest call by output limit: the budget of one turn must not shorten the answer of another. */
  readonly #answers = new Map<number | undefined, SharedAnswer>()
  readonly #onEmpty: () => void
  #members = 0

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty
  }

  join(): GroupMember {
    this.#members++
    let isMember = true
    return {
      open: (limit, start) => {
        const inFlight = this.#answers.get(limit)
        if (inFlight?.joinable === true) return inFlight.join()
        const answer = new SharedAnswer(start)
        this.#answers.set(limit, answer)
        return answer.join()
      },
      leave: () => {
        if (isMember && --this.#members === 0) this.#onEmpty()
        isMember = false
      },
    }
  }
}

class SharedAnswer {
  /** `true`: may be joined; it has neither failed nor been given up. */
  joinable = true
  readonly #parts: ModelPart[] = []
  readonly #source: AsyncIterator<ModelPart>
  readonly #over = new AbortController()
  readonly #readers = new Set<AnswerReader>()
  #payer: AnswerReader | undefined
  #reading: Promise<void> | undefined
  /** `true`: no more parts arrive, because the answer finished or broke off. */
  #ended = false
  #failure: { readonly thrown: unknown } | undefined

  constructor(start: StartRequest) {
    this.#source = start(this.#over.signal)[Symbol.asyncIterator]()
  }

  join(): AnswerReader {
    let read = 0
    const isPayer = (): boolean => this.#payer === reader
    const reader: AnswerReader = {
      next: async () => {
        const value = await this.#part(read)
        if (value === undefined) return { done: true, value }
        read++
        return { done: false, value }
      },
      unread: () => this.#parts.slice(read),
      get pays() {
        return isPayer()
      },
      leave: (gaveUp) => this.#leave(reader, gaveUp),
    }
    this.#readers.add(reader)
    this.#payer ??= reader
    return reader
  }

  /** Returns the part at this index, waiting for it if necessary; `undefined` after the last. */
  async #part(index: number): Promise<ModelPart | undefined> {
    while (index >= this.#parts.length) {
      if (this.#failure !== undefined) throw this.#failure.thrown
      if (this.#ended) return undefined
      await (this.#reading ??= this.#readOn())
    }
    return this.#parts[index]
  }

  #leave(reader: AnswerReader, gaveUp: boolean): void {
    if (!this.#readers.delete(reader)) return
    if (!this.#ended) {
      const [heir] = this.#readers
      if (gaveUp || heir === undefined) this.joinable = false
      // The request continues for the others, who now pay for it.
      if (this.#payer === reader && heir !== undefined) this.#payer = heir
    }
    if (this.#readers.size === 0) close(this.#source, this.#over)
  }

  async #readOn(): Promise<void> {
    try {
      const next = await this.#source.next()
      if (next.done !== true) this.#parts.push(next.value)
      // Parts after `finish` are not part of the answer.
      this.#ended = next.done === true || next.value.type === 'finish'
    } catch (thrown) {
      this.#failure = { thrown }
      this.#ended = true
      this.joinable = false
    } finally {
      this.#reading = undefined
    }
  }
}
