/** The last station: reads the citations of the answer and says what the turn came to. */

import type { Station } from '../core/context.ts'
import type { QueryResult } from '../core/event.ts'
import type { Answer } from '../model/answer.ts'
import { saysAbstention } from '../prepare/grounding.ts'
import { readCitations } from './cite.ts'
import { quotedCitations } from './quoted.ts'
import { steeredTooLate } from './take-steering.ts'
import type { Turn } from './turn.ts'

export async function* finish(
  answer: Answer,
  turn: Turn,
  finishReason: QueryResult['finishReason'] = answer.finishReason,
): Station<QueryResult> {
  const grounding = turn.conversation?.grounding
  const text = answer.message.content
  const citations =
    grounding === undefined
      ? undefined
      : answer.citations === undefined
        ? readCitations(text, grounding.passages)
        : quotedCitations(answer.citations, grounding.passages)
  const result: QueryResult = {
    text,
    finishReason,
    steps: turn.step,
    usage: turn.ledger.usage,
    costUsd: turn.ledger.costUsd,
    model: answer.model.ref,
    ...(citations === undefined
      ? {}
      : { citations, abstained: answer.abstained || (citations.length === 0 && saysAbstention(text)) }),
    cacheHit: answer.cacheHit,
    sessionId: turn.sessionId,
    turnId: turn.turnId,
    traceId: turn.span.traceId,
  }
  yield* steeredTooLate(turn)
  yield { type: 'complete', result }
  return result
}
