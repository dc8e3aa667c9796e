/**
 * Passes the events of a turn to its reader. A turn that is aborted or times out is read to its end in the background: its request and its
 * row are closed and its session is free, even if the reader pauses or has dropped the generator.
 */

import type { Station } from '../core/context.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import { forwarded } from './parent.ts'
import { readerLeft, recorded } from './record.ts'
import { toTheEnd } from './turn-end.ts'
import type { Turn } from './turn.ts'

export type TurnEvents = AsyncGenerator<QueryEvent, QueryResult | undefined, undefined>

/** A running turn. */
interface Started {
  readonly events: TurnEvents
  /** Aborted when the turn must end. */
  readonly signal: AbortSignal
  /** Ends the turn because its reader has left. */
  readonly leave: () => void
}

type Read = IteratorResult<QueryEvent, QueryResult | undefined>

/**
 * Runs a turn for a reader: starts it at the first `next()`, runs its stations to the end and records what they yield.
 *
 * @param stations yields the `complete` event itself.
 */
export function runTurn(begin: () => Turn, stations: (turn: Turn) => Station<unknown>): TurnEvents {
  return readTurn(() => {
    const turn = begin()
    const { caller, ctx } = turn
    const events = recorded(toTheEnd(turn, stations(turn)), turn)
    const shown = caller === undefined ? events : forwarded(events, caller)
    return { events: shown, signal: ctx.signal, leave: () => turn.end(readerLeft()) }
  })
}

/** @param begin called at the first `next()`, not before. */
export function readTurn(begin: () => Started): TurnEvents {
  return new TurnReader(begin)
}

class TurnReader implements TurnEvents {
  readonly #begin: () => Started
  #started: Started | undefined
  #isLeft = false
  /** Number of pending `next()` calls. */
  #waiting = 0
  /** Events read in the background before the reader requested them; few, since an aborted turn soon ends. */
  #ahead: Promise<Read>[] = []

  constructor(begin: () => Started) {
    this.#begin = begin
  }

  async next(): Promise<Read> {
    if (this.#isLeft) return { done: true, value: undefined }
    const { events } = this.#start()
    this.#waiting++
    try {
      const read = await (this.#ahead.shift() ?? events.next())
      if (read.done === true) this.#stopListening()
      return read
    } finally {
      this.#waiting--
    }
  }

  async return(value: QueryResult | undefined | PromiseLike<QueryResult | undefined>): Promise<Read> {
    this.#leave()
    return this.#started === undefined ? { done: true, value: await value } : await this.#started.events.return(value)
  }

  async throw(thrown: unknown): Promise<Read> {
    this.#leave()
    if (this.#started === undefined) throw thrown
    return await this.#started.events.throw(thrown)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined)
  }

  #start(): Started {
    if (this.#started !== undefined) return this.#started
    const started = this.#begin()
    this.#started = started
    if (started.signal.aborted) this.#readToEnd()
    else started.signal.addEventListener('abort', this.#readToEnd, { once: true })
    return started
  }

  #leave(): void {
    this.#isLeft = true
    this.#ahead = []
    this.#stopListening()
    // `return()` of an async generator waits for a pending `next()`, which may take as long as the model.
    if (this.#waiting > 0) this.#started?.leave()
  }

  /** Removes the listener: a signal of the caller may outlive many turns. */
  #stopListening(): void {
    this.#started?.signal.removeEventListener('abort', this.#readToEnd)
  }

  readonly #readToEnd = (): void => {
    const { events } = this.#start()
    const readOn = (): void => {
      const read = events.next()
      this.#ahead.push(read)
      read.then(
        ({ done }) => (done === true || this.#isLeft ? undefined : readOn()),
        // The reader receives the error at its next `next()`.
        () => {},
      )
    }
    readOn()
  }
}
