/**
 * One answer of a provider that several read, each from its beginning and at his own pace. It is read on when one of them wants more, and closed
 * when the last of them has left: who leaves early takes nothing away from the others.
 */

import type { ModelPart } from '../core/model.ts'

/** One of those who read an answer, or its only reader. */
export interface AnswerReader {
  next(): Promise<IteratorResult<ModelPart, unknown>>
  /** What has come and was not read. */
  unread(): readonly ModelPart[]
  /** Whether the request is this reader's to pay: he made it, or whoever made it has left it to him. Certain once he has left. */
  readonly pays: boolean
  /** @param gaveUp it took too long: whoever asks next should not wait for it. */
  leave(gaveUp: boolean): void
}

/** @param signal ends the request. */
export type StartRequest = (signal: AbortSignal) => AsyncIterable<ModelPart>

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

/** Nobody looks at it: making the error that is the default takes milliseconds in a cold process. */
export const OVER = 'The attempt is over.'

export class SharedStream {
  readonly #parts: ModelPart[] = []
  readonly #source: AsyncIterator<ModelPart>
  readonly #over = new AbortController()
  readonly #readers = new Set<AnswerReader>()
  #payer: AnswerReader | undefined
  #reading: Promise<void> | undefined
  /** Nothing more comes: it was finished, or it broke. */
  #ended = false
  #failure: { readonly thrown: unknown } | undefined
  #stale = false

  constructor(start: StartRequest) {
    this.#source = start(this.#over.signal)[Symbol.asyncIterator]()
  }

  /** Whether it is worth joining: it did not fail, and nobody has given it up. */
  get joinable(): boolean {
    return this.#failure === undefined && !this.#stale
  }

  join(): AnswerReader {
    const reader = new SharedReader(this)
    this.#readers.add(reader)
    this.#payer ??= reader
    return reader
  }

  /** The part with this number, waited for where it has not come yet; `undefined` after the last. */
  async part(index: number): Promise<ModelPart | undefined> {
    while (index >= this.#parts.length) {
      if (this.#failure !== undefined) throw this.#failure.thrown
      if (this.#ended) return undefined
      await (this.#reading ??= this.#readOn())
    }
    return this.#parts[index]
  }

  /** What has come from this number on. */
  partsFrom(index: number): readonly ModelPart[] {
    return this.#parts.slice(index)
  }

  isPaidBy(reader: AnswerReader): boolean {
    return this.#payer === reader
  }

  leave(reader: AnswerReader, gaveUp: boolean): void {
    if (!this.#readers.delete(reader)) return
    if (!this.#ended) {
      const [heir] = this.#readers
      this.#stale ||= gaveUp || heir === undefined
      // The request goes on for the others, and so does what it costs.
      if (this.#payer === reader && heir !== undefined) this.#payer = heir
    }
    if (this.#readers.size === 0) close(this.#source, this.#over)
  }

  async #readOn(): Promise<void> {
    try {
      const next = await this.#source.next()
      if (next.done === true) {
        this.#ended = true
      } else {
        this.#parts.push(next.value)
        // What a provider sends after that is not part of the answer.
        if (next.value.type === 'finish') this.#ended = true
      }
    } catch (thrown) {
      this.#failure = { thrown }
      this.#ended = true
    } finally {
      this.#reading = undefined
    }
  }
}

class SharedReader implements AnswerReader {
  readonly #stream: SharedStream
  #read = 0

  constructor(stream: SharedStream) {
    this.#stream = stream
  }

  get pays(): boolean {
    return this.#stream.isPaidBy(this)
  }

  async next(): Promise<IteratorResult<ModelPart, undefined>> {
    const part = await this.#stream.part(this.#read)
    if (part === undefined) return { done: true, value: undefined }
    this.#read++
    return { done: false, value: part }
  }

  unread(): readonly ModelPart[] {
    return this.#stream.partsFrom(this.#read)
  }

  leave(gaveUp: boolean): void {
    this.#stream.leave(this, gaveUp)
  }
}
