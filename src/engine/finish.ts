/** The last station: checks the citations of the answer and builds the result. */

import type { CheckedAnswer } from '../citations/check.ts'
import { citationOf } from '../citations/citation.ts'
import type { Station } from '../core/context.ts'
import type { QueryResult } from '../core/event.ts'
import type { Citation } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import type { Grounding, QuotedPassage } from '../core/model.ts'
import type { Answer } from '../model/answer.ts'
import { currentModel } from '../model/chain.ts'
import { saysAbstention } from '../prepare/compose.ts'
import { steeredTooLate } from './interventions.ts'
import type { Turn } from './turn.ts'

export async function* finish(
  answer: Answer,
  turn: Turn,
  finishReason: QueryResult['finishReason'] = answer.finishReason,
  waiting?: QueryResult['waiting'],
): Station<QueryResult> {
  const grounding = turn.conversation?.grounding
  const checked = grounding === undefined ? undefined : yield* citationsOf(answer, grounding, turn)
  const result = resultOf(turn, {
    text: answer.message.content,
    finishReason,
    model: answer.model.ref,
    cacheHit: answer.cacheHit,
    ...(waiting === undefined ? {} : { waiting }),
    ...(checked === undefined ? {} : grounded(checked, answer)),
  })
  yield* steeredTooLate(turn)
  yield { type: 'complete', result }
  return result
}

/** Builds the result of a turn, adding usage, cost and ids. */
export function resultOf(
  { chain, step, ledger, sessionId, turnId, span }: Turn,
  of: Pick<QueryResult, 'text' | 'finishReason'> & Partial<QueryResult>,
): QueryResult {
  const { usage, costUsd } = ledger
  const model = currentModel(chain).ref
  return { steps: step, usage, costUsd, model, cacheHit: false, ...of, sessionId, turnId, traceId: span.traceId }
}

/** Returns the citations: those reported by a model that quotes, else those found by checking the answer. */
async function* citationsOf(answer: Answer, grounding: Grounding, turn: Turn): Station<CheckedAnswer> {
  if (answer.citations === undefined) {
    const { verify } = await import('./verify.ts')
    return yield* verify(answer.message.content, grounding, answer.model, turn)
  }
  return { citations: quotedCitations(answer.citations, grounding.passages), uncited: 0 }
}

/** A refusal is not a statement about the documents. */
function grounded(
  { citations, uncited }: CheckedAnswer,
  answer: Answer,
): Pick<QueryResult, 'citations' | 'uncited' | 'abstained'> {
  const abstained = answer.abstained || (citations.length === 0 && saysAbstention(answer.message.content))
  return { citations, uncited: abstained ? 0 : uncited, abstained }
}

/** Converts the places reported by a model that quotes into citations. Leaves out markers that name no passage. */
function quotedCitations(quotes: readonly QuotedPassage[], passages: readonly Retrieved[]): Citation[] {
  return quotes.flatMap(({ marker, start, end, claim }) => {
    const retrieved = passages.find((passage) => passage.marker === marker)
    return retrieved === undefined
      ? []
      : citationOf(retrieved, claim, { verdict: 'verified', kind: 'verbatim', range: { start, end } })
  })
}
