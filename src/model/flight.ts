/** Equal requests that are made at the same time share one call. */

import { SharedStream } from './answer-reader.ts'
import type { AnswerReader, StartRequest } from './answer-reader.ts'

/** Those who ask the same now. */
export class Flight {
  /** The newest call for each limit of the output: one turn's budget must not cut another one's answer short. */
  readonly #streams = new Map<number | undefined, SharedStream>()
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
        const underWay = this.#streams.get(limit)
        if (underWay?.joinable === true) return underWay.join()
        const stream = new SharedStream(start)
        this.#streams.set(limit, stream)
        return stream.join()
      },
      leave: () => {
        if (isTaken && --this.#seats === 0) this.#onEmpty()
        isTaken = false
      },
    }
  }
}

/** A place among them; what is known of their call is known as long as one is taken. */
export interface Seat {
  /**
   * Joins the call that is under way or was just answered, else makes one.
   * @param limit of the output, in tokens.
   */
  open(limit: number | undefined, start: StartRequest): AnswerReader
  /** Leaves the shared request; the last reader that leaves ends it. */
  leave(): void
}
