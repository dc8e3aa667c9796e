/**
 * Reads one answer of a provider, alone or together: equal requests that are made at the same time share one call. A shared answer is read by each
 * from its beginning and at his own pace. It is read on when one of them wants more, and closed when the last of them has left.
 */

import type { ModelPart } from '../core/model.ts'

/** One of those who read an answer, or its only reader. */
export interface AnswerReader {
  next(): Promise<IteratorResult<ModelPart, unknown>>
  /** Parts that have come and were not read. */
  unread(): readonly ModelPart[]
  /** True when this reader has to pay the request: he made it, or whoever made it has left it to him. Certain once he has left. */
  readonly pays: boolean
  /** @param gaveUp it took too long: whoever asks next should not wait for it. */
  leave(gaveUp: boolean): void
}

/** @param signal ends the request. */
export type StartRequest = (signal: AbortSignal) => AsyncIterable<ModelPart>

/** A place among those who ask the same; what is known of their call is known as long as one is taken. */
export interface Seat {
  /**
   * Joins the call that is under way or was just answered, else makes one.
   * @param limit of the output, in tokens.
   */
  open(limit: number | undefined, start: StartRequest): AnswerReader
  /** Leaves the shared request; the last reader that leaves ends it. */
  leave(): void
}

/** Nobody looks at it: making the error that is the default takes milliseconds in a cold process. */
export const OVER = 'The attempt is over.'

/** Reads an answer that nobody else reads. */
export function readAlone(start: StartRequest): AnswerReader {
  const over = new AbortController()
  const source = start(over.signal)[Symbol.asyncIterator]()
  return { next: () => source.next(), unread: () => [], pays: true, leave: () => close(source, over) }
}

/** First the signal, then the iterator: a generator that waits cannot be returned before its wait ends. */
function close(source: AsyncIterator<ModelPart>, over: AbortController): void {
  over.abort(OVER)
  source.return?.().then(undefined, () => {})
}

/** Those who ask the same now. */
export class Flight {
  /** The newest call for each limit of the output: one turn's budget must not cut another one's answer short. */
  readonly #answers = new Map<number | undefined, SharedAnswer>()
  readonly #onEmpty: () => void
  #seats = 0

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty
  }

  seat(): Seat {
    this.#seats++
    let isTaken = true
    return {
      open: (limit, start) => {
        const underWay = this.#answers.get(limit)
        if (underWay?.joinable === true) return underWay.join()
        const answer = new SharedAnswer(start)
        this.#answers.set(limit, answer)
        return answer.join()
      },
      leave: () => {
        if (isTaken && --this.#seats === 0) this.#onEmpty()
        isTaken = false
      },
    }
  }
}

class SharedAnswer {
  /** It is worth joining: it did not fail, and nobody has given it up. */
  joinable = true
  readonly #parts: ModelPart[] = []
  readonly #source: AsyncIterator<ModelPart>
  readonly #over = new AbortController()
  readonly #readers = new Set<AnswerReader>()
  #payer: AnswerReader | undefined
  #reading: Promise<void> | undefined
  /** Nothing more comes: it was finished, or it broke. */
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

  /** The part with this number, waited for where it has not come yet; `undefined` after the last. */
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
      // The request goes on for the others, and so does what it costs.
      if (this.#payer === reader && heir !== undefined) this.#payer = heir
    }
    if (this.#readers.size === 0) close(this.#source, this.#over)
  }

  async #readOn(): Promise<void> {
    try {
      const next = await this.#source.next()
      if (next.done !== true) this.#parts.push(next.value)
      // What a provider sends after its finish is not part of the answer.
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
