/** Makes the answer of `ask()` from the events of a turn. */

import type { Citation } from '../core/citation.ts'
import { CriaError, errorFromInfo, NoAssistantMessageError } from '../core/error.ts'
import type { EventOf, NoticeEvent, QueryEvent, QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import { abortReasonOf, causeOf } from '../engine/to-the-end.ts'
import type { Usage } from '../core/usage.ts'

/** The assistant message, and what the turn came to. */
export interface BotAnswer extends Message {
  /** Present where the answer rests on documents. */
  readonly citations?: readonly Citation[]
  /** Statements that no citation speaks for; present with `citations`. */
  readonly uncited?: number
  /** The documents do not hold the answer, and the answer says so. */
  readonly abstained?: boolean
  /** Tokens of the whole turn: all of its model calls, failed attempts included. */
  readonly usage: Usage
  /** US dollars for the whole turn; `null` when the price of a model that was used is unknown. */
  readonly costUsd: number | null
  /** Why the answer ended; `max-steps` and `stop-when` are limits of the bot. */
  readonly finishReason: QueryResult['finishReason']
  /** The model that gave the answer, as `provider/model`: a fallback, where the first one could not. */
  readonly model: string
  /** Model calls of the turn that were answered. */
  readonly steps: number
  /** The answer came from the response cache. */
  readonly cacheHit: boolean
  /** What the turn had to say beside its answer, in order: `code` and `message`. Empty where there was nothing. */
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
  const deltas = deltasOf(events)
  for (;;) {
    const next = await deltas.next()
    if (next.done === true) return next.value
  }
}

/** The text of a turn as it comes; returns its answer. @throws CriaError when it did not end in one. */
export async function* deltasOf(events: AsyncIterable<QueryEvent>): AsyncGenerator<string, BotAnswer, undefined> {
  let message: Message | undefined
  let answer: BotAnswer | undefined
  const notices: Notice[] = []
  for await (const event of events) {
    if (event.parent !== undefined) continue
    if (event.type === 'text_delta') yield event.text
    else if (event.type === 'message') message = event.message
    else if (event.type === 'error')
      throw errorFromInfo({ ...event.error, details: { ...event.error.details, turnId: event.turnId } }, causeOf(event.error))
    else if (event.type === 'cancelled') throw cancelled(event)
    else if (event.type === 'notice') notices.push(noticeOf(event))
    else if (event.type === 'complete' && message !== undefined) answer = toAnswer(message, event.result, notices)
  }
  if (answer === undefined) throw new NoAssistantMessageError('The stream ended without an assistant message.')
  return answer
}

function cancelled(event: EventOf<'cancelled'>): CriaError {
  const { reason, turnId, usage, costUsd } = event
  return new CriaError('aborted', reason, {
    details: { turnId },
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
    cause: abortReasonOf(event),
  })
}

function noticeOf({ code, message, details }: NoticeEvent): Notice {
  return { code, message, ...(details === undefined ? {} : { details }) }
}

function toAnswer(message: Message, result: QueryResult, notices: readonly Notice[]): BotAnswer {
  const { usage, costUsd, finishReason, model, steps, cacheHit, turnId, sessionId, citations, uncited, abstained } = result
  return {
    ...message,
    usage,
    costUsd,
    finishReason,
    model,
    steps,
    cacheHit,
    notices,
    turnId,
    sessionId,
    ...(citations === undefined ? {} : { citations }),
    ...(uncited === undefined ? {} : { uncited }),
    ...(abstained === undefined ? {} : { abstained }),
  }
}
