/** Makes the answer of `ask()` from the events of a turn. */

import type { Citation } from '../core/citation.ts'
import { ConfigurationError, CriaError, errorFromInfo, NoAssistantMessageError } from '../core/error.ts'
import type { EventOf, NoticeEvent, QueryEvent, QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import { abortReasonOf, causeOf } from '../engine/turn-end.ts'
import type { PermissionRequest } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import { defined } from '../util/check.ts'

/** The assistant message, and what the turn came to. */
export interface BotAnswer extends Message {
  /** Present where the answer rests on documents. */
  readonly citations?: readonly Citation[]
  /** Statements without a citation; present with `citations`. */
  readonly uncited?: number
  /** `true`: the documents do not hold the answer, and the answer says so. */
  readonly abstained?: boolean
  /** Tokens of the whole turn: all of its model calls, failed attempts included. */
  readonly usage: Usage
  /** US dollars for the whole turn; `null` when the price of a model that was used is unknown. */
  readonly costUsd: number | null
  /** Why the answer ended; `max-steps` and `stop-when` are limits of the bot. */
  readonly finishReason: QueryResult['finishReason']
  /** The calls that wait for a decision by `query({ decide })`; present with the finish reason `waiting`. */
  readonly waiting?: readonly PermissionRequest[]
  /** The model that gave the answer, as `provider/model`: a fallback, where the first one could not. */
  readonly model: string
  /** Model calls of the turn that were answered. */
  readonly steps: number
  /** The answer came from the response cache. */
  readonly cacheHit: boolean
  /** Notices of the turn, in order: `code` and `message`. Empty where there were none. */
  readonly notices: readonly Notice[]
  /** Id of the turn in the journal. */
  readonly turnId: string
  /** Continues the conversation: `ask(input, { sessionId })`. */
  readonly sessionId: string
}

/** A notice without the marks of an event. */
export type Notice = Pick<NoticeEvent, 'code' | 'message' | 'details'>

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
    throw new ConfigurationError('`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.')
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
  readonly #notices: Notice[] = []
  #message: Message | undefined
  #answer: BotAnswer | undefined

  /** @throws CriaError for an event that ends the turn without an answer. */
  add(event: QueryEvent): void {
    if (event.parent !== undefined) return
    if (event.type === 'message') this.#message = event.message
    else if (event.type === 'error')
      throw errorFromInfo({ ...event.error, details: { ...event.error.details, turnId: event.turnId } }, causeOf(event.error))
    else if (event.type === 'cancelled') throw cancelled(event)
    else if (event.type === 'notice') this.#notices.push(noticeOf(event))
    else if (event.type === 'complete' && this.#message !== undefined)
      this.#answer = toAnswer(this.#message, event.result, this.#notices)
  }

  answer(): BotAnswer {
    if (this.#answer === undefined) throw new NoAssistantMessageError('The stream ended without an assistant message.')
    return this.#answer
  }
}

function cancelled(event: EventOf<'cancelled'>): CriaError {
  const { reason, turnId, usage, costUsd } = event
  return new CriaError('aborted', reason, {
    details: { turnId },
    ...defined({ usage, costUsd }),
    cause: abortReasonOf(event),
  })
}

function noticeOf({ code, message, details }: NoticeEvent): Notice {
  return { code, message, ...(details === undefined ? {} : { details }) }
}

function toAnswer(message: Message, result: QueryResult, notices: readonly Notice[]): BotAnswer {
  const { usage, costUsd, finishReason, waiting, model, steps, cacheHit, turnId, sessionId, citations, uncited, abstained } =
    result
  return {
    ...message,
    usage,
    costUsd,
    finishReason,
    ...(waiting === undefined ? {} : { waiting }),
    model,
    steps,
    cacheHit,
    notices,
    turnId,
    sessionId,
    ...defined({ citations, uncited, abstained }),
  }
}
