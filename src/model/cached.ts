/** Answers from the cache where it can, and lets equal questions that come at the same time share one call. */

import type { Station } from '../core/context.ts'
import { fromParts } from '../core/message.ts'
import type { EventBody } from '../core/event.ts'
import type { LanguageModel, ModelPart, ModelRequest } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { defined } from '../util/check.ts'
import type { Answer, ModelContext } from './answer.ts'
import type { Seat } from './answer-reader.ts'
import { cacheKey } from './response-cache.ts'
import type { CachedAnswer, ResponseCache } from './response-cache.ts'

/**
 * A hit yields what the answer had shown, with new ids, for nothing. What a fallback answers is kept under its own name.
 *
 * @param request as `model` gets it.
 * @param ask makes one attempt; what it shares with others it gets from the seat.
 */
export async function* cached<Failure extends object>(
  request: ModelRequest,
  model: LanguageModel,
  attempt: number,
  ctx: ModelContext,
  ask: (seat: Seat | undefined) => Station<Answer | Failure>,
): Station<Answer | Failure> {
  const { cache } = ctx
  if (cache === undefined) return yield* ask(undefined)
  const key = cacheKey(request, model)
  // Taken before the cache is asked: whoever answers in between is then still there to be joined.
  const seat = cache.seat(key)
  try {
    const hit = await cache.get(key)
    if (hit !== undefined) return yield* replay(hit, model, attempt, ctx)
    const outcome = yield* ask(seat)
    if ('message' in outcome && !outcome.cacheHit && isWorthKeeping(outcome, cache))
      await cache.set(key, { ...outcome, parts: outcome.message.parts })
    return outcome
  } finally {
    seat.leave()
  }
}

/** Only whole answers. */
function isWorthKeeping({ message, finishReason, paused }: Answer, cache: ResponseCache): boolean {
  if (paused) return false
  return message.toolCalls === undefined ? finishReason === 'stop' : cache.toolCalls && finishReason === 'tool-calls'
}

async function* replay(hit: CachedAnswer, model: LanguageModel, attempt: number, ctx: ModelContext): Station<Answer> {
  const { finishReason, abstained, citations } = hit
  for (const part of hit.parts) {
    const event = shownOf(part, attempt, ctx.showThinking)
    if (event !== undefined) yield event
  }
  ctx.ledger.free()
  // A conversation must not have two calls of one id.
  const parts = hit.parts.map((part) => (part.type === 'tool-call' ? { ...part, id: ctx.createId('call') } : part))
  return {
    type: 'answer',
    message: fromParts('assistant', parts, { id: ctx.createId('msg') }),
    model,
    usage: ZERO_USAGE,
    finishReason,
    abstained,
    ...defined({ citations }),
    paused: false,
    cacheHit: true,
  }
}

/** The event by which a reader is shown a part; most parts are not shown. */
export function shownOf(part: ModelPart | Part, attempt: number, showThinking: boolean): ShownEvent | undefined {
  if (part.type === 'text' && part.text !== '') return { type: 'text_delta', text: part.text, attempt }
  if (part.type === 'thinking' && part.text !== '' && showThinking) return { type: 'thinking', content: part.text, attempt }
  if (part.type === 'tool-input' && part.delta !== '')
    return { type: 'tool_input_delta', id: part.id, name: part.name, delta: part.delta }
  return undefined
}

type ShownEvent = Extract<EventBody, { type: 'text_delta' | 'thinking' | 'tool_input_delta' }>
