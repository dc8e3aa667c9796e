/** Answers from the response cache if possible, and shares one call among equal requests at the same time. */

import type { Station } from '../core/context.ts'
import { fromParts } from '../core/message.ts'
import type { EventBody } from '../core/event.ts'
import type { LanguageModel, ModelPart, ModelRequest } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { defined } from '../util/check.ts'
import type { Answer, ModelContext } from './answer.ts'
import type { GroupMember } from './answer-reader.ts'
import { cacheKey } from './response-cache.ts'
import type { CachedAnswer, ResponseCache } from './response-cache.ts'

/**
 * A hit yields the stored answer with new ids and without cost. The answer of a fallback model is stored under the fallback's key.
 *
 * @param request as sent to `model`.
 * @param ask makes one attempt; receives this request's place among equal requests, which share one call; `undefined` without a cache.
 */
export async function* cached<Failure extends object>(
  request: ModelRequest,
  model: LanguageModel,
  attempt: number,
  ctx: ModelContext,
  ask: (member: GroupMember | undefined) => Station<Answer | Failure>,
): Station<Answer | Failure> {
  const { cache } = ctx
  if (cache === undefined) return yield* ask(undefined)
  const key = cacheKey(request, model)
  // Joined before the cache lookup, so that a call that finishes in between can still be joined.
  const member = cache.seat(key)
  try {
    const hit = await cache.get(key)
    if (hit !== undefined) return yield* replay(hit, model, attempt, ctx)
    const outcome = yield* ask(member)
    if ('message' in outcome && !outcome.cacheHit && isWorthKeeping(outcome, cache))
      await cache.set(key, { ...outcome, parts: outcome.message.parts })
    return outcome
  } finally {
    member.leave()
  }
}

/** Returns `true` for answers whose finish reason the cache keeps: `stop`, and with `toolCalls: true` also `tool-calls`. */
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
  // Ids of calls must be unique within a conversation.
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

/** Returns the event that shows a part to the reader; `undefined` for most types. */
export function shownOf(part: ModelPart | Part, attempt: number, showThinking: boolean): ShownEvent | undefined {
  if (part.type === 'text' && part.text !== '') return { type: 'text_delta', text: part.text, attempt }
  if (part.type === 'thinking' && part.text !== '' && showThinking) return { type: 'thinking', content: part.text, attempt }
  if (part.type === 'tool-input' && part.delta !== '')
    return { type: 'tool_input_delta', id: part.id, name: part.name, delta: part.delta }
  return undefined
}

type ShownEvent = Extract<EventBody, { type: 'text_delta' | 'thinking' | 'tool_input_delta' }>
