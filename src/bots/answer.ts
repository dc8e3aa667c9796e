/** What `ask()` resolves to, made of the events of a turn. */

import type { Citation } from '../core/citation.ts'
import { CriaError, errorFromInfo, NoAssistantMessageError } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import { causeOf } from '../engine/to-the-end.ts'
import type { Usage } from '../core/usage.ts'

/** The assistant message, and what the turn came to. */
export interface BotAnswer extends Message {
  /** Present where the answer rests on documents. */
  readonly citations?: readonly Citation[]
  /** Statements that no citation speaks for; present with `citations`. */
  readonly uncited?: number
  /** The documents do not hold the answer, and the answer says so. */
  readonly abstained?: boolean
  /** Tokens of all requests of the turn; what is not known is `null`. */
  readonly usage: Usage
  /** US dollars; `null`: not known. */
  readonly costUsd: number | null
  /** Why the answer ended; `length`: it was cut off. */
  readonly finishReason: QueryResult['finishReason']
  /** The turn in the journal. */
  readonly turnId: string
  /** The session in the journal; given to the next `ask()`, it goes on. */
  readonly sessionId: string
}

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
  for await (const event of events) {
    if (event.parent !== undefined) continue
    if (event.type === 'text_delta') yield event.text
    else if (event.type === 'message') message = event.message
    else if (event.type === 'error')
      throw errorFromInfo({ ...event.error, details: { ...event.error.details, turnId: event.turnId } }, causeOf(event.error))
    else if (event.type === 'cancelled') throw new CriaError('aborted', event.reason, { details: { turnId: event.turnId } })
    else if (event.type === 'complete' && message !== undefined) answer = toAnswer(message, event.result)
  }
  if (answer === undefined) throw new NoAssistantMessageError('The stream ended without an assistant message.')
  return answer
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
