/** Makes the answer of `ask()` from the events of a turn. */

import type { Citation } from '../core/citation.ts'
import { ConfigurationError, CriaError, errorFromInfo, NoAssistantMessageError } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import { causeOf } from '../engine/to-the-end.ts'
import type { Usage } from '../core/usage.ts'

/** The assistant message, and what the turn came to. */
export interface BotAnswer extends Message {
  /** Present where the answer rests on documents. */
  readonly citations?: readonly Citation[]
  /** Statements without a citation; present with `citations`. */
  readonly uncited?: number
  /** `true`: the documents do not hold the answer, and the answer says so. */
  readonly abstained?: boolean
  /** Of all model calls of the turn. */
  readonly usage: Usage
  /** US dollars; `null` where a price is unknown. */
  readonly costUsd: number | null
  readonly finishReason: QueryResult['finishReason']
  readonly turnId: string
  readonly sessionId: string
}

/** Reads a turn to its end. @throws CriaError when it did not end in an answer. */
export async function answerFrom(events: AsyncIterable<QueryEvent>): Promise<BotAnswer> {
  const reading = new Reading()
  for await (const event of events) reading.add(event)
  return reading.answer()
}

/**
 * The text of a turn as it comes; returns its answer.
 *
 * @param onReset called when an attempt is given up after its text was yielded; `hold` yields only the text of attempts that succeeded.
 * @throws CriaError when the turn did not end in an answer.
 */
export async function* deltasOf(
  events: AsyncIterable<QueryEvent>,
  onReset?: (() => void) | 'hold',
): AsyncGenerator<string, BotAnswer, undefined> {
  const reading = new Reading()
  let held: string[] = []
  for await (const event of events) {
    reading.add(event)
    if (event.parent !== undefined) continue
    if (event.type === 'text_delta' && onReset !== 'hold') yield event.text
    else if (event.type === 'text_delta') held.push(event.text)
    else if (event.type === 'reset') {
      held = []
      if (onReset !== 'hold') onReset?.()
    } else if (event.type === 'message') {
      yield* held
      held = []
    }
  }
  return reading.answer()
}

/**
 * A generator that can be left at any time: `return()` aborts the signal that `begin` was given where a `next()` is waiting, which an async
 * generator alone would wait for. The `next()` that waited is then done.
 *
 * @param given the caller's signal, which ends the generator as well.
 * @throws ConfigurationError when that is not a signal.
 */
export function leavable<T, R>(
  begin: (signal: AbortSignal) => AsyncGenerator<T, R, undefined>,
  given: AbortSignal | undefined,
): AsyncGenerator<T, R, undefined> {
  if (given !== undefined && !(given instanceof AbortSignal))
    throw new ConfigurationError('`signal` must be an AbortSignal, such as the `signal` of an AbortController.')
  const leaving = new AbortController()
  const inner = begin(given === undefined ? leaving.signal : AbortSignal.any([given, leaving.signal]))
  const done = { done: true as const, value: undefined as R }
  let waiting = 0
  let isLeft = false
  const leave = (): void => {
    isLeft = true
    if (waiting > 0) leaving.abort(new CriaError('aborted', 'The reader of the turn left.'))
  }
  return {
    next: async () => {
      if (isLeft) return done
      waiting++
      try {
        const read = await inner.next()
        return isLeft ? done : read
      } catch (error) {
        if (isLeft) return done
        throw error
      } finally {
        waiting--
      }
    },
    return: async (value) => {
      leave()
      return await inner.return(value)
    },
    throw: async (error) => {
      leave()
      return await inner.throw(error)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return(undefined as R)
    },
  }
}

/** Collects what an answer is made of. */
class Reading {
  #message: Message | undefined
  #answer: BotAnswer | undefined

  /** @throws CriaError for an event that ends the turn without an answer. */
  add(event: QueryEvent): void {
    if (event.parent !== undefined) return
    if (event.type === 'message') this.#message = event.message
    else if (event.type === 'error')
      throw errorFromInfo({ ...event.error, details: { ...event.error.details, turnId: event.turnId } }, causeOf(event.error))
    else if (event.type === 'cancelled') throw new CriaError('aborted', event.reason, { details: { turnId: event.turnId } })
    else if (event.type === 'complete' && this.#message !== undefined) this.#answer = toAnswer(this.#message, event.result)
  }

  answer(): BotAnswer {
    if (this.#answer === undefined) throw new NoAssistantMessageError('The stream ended without an assistant message.')
    return this.#answer
  }
}

function toAnswer(message: Message, result: QueryResult): BotAnswer {
  const { usage, costUsd, finishReason, turnId, sessionId, citations, uncited, abstained } = result
  return {
    ...message,
    usage,
    costUsd,
    finishReason,
    turnId,
    sessionId,
    ...(citations === undefined ? {} : { citations }),
    ...(uncited === undefined ? {} : { uncited }),
    ...(abstained === undefined ? {} : { abstained }),
  }
}
