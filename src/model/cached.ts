/** Answers from the cache where it can, and lets equal questions that come at the same time share one call. */

import type { Station } from '../core/context.ts'
import type { EventBody } from '../core/event.ts'
import { fromParts } from '../core/message.ts'
import type { LanguageModel, ModelRequest } from '../core/model.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { orAborted } from '../util/abort.ts'
import { cacheKey } from './response-cache.ts'
import type { CachedAnswer, ResponseCache } from './response-cache.ts'
import type { Answer, ModelContext, Overflow } from './answer.ts'

/**
 * A hit yields what the answer had shown, with a new id, for nothing. Who waits for somebody else's call is not ended by that call's failure
 * or abort: he makes the call himself.
 *
 * @param request as `model` gets it.
 * @param ask makes the call.
 */
export async function* cached(
  request: ModelRequest,
  model: LanguageModel,
  cache: ResponseCache,
  ctx: ModelContext,
  ask: () => Station<Answer | Overflow>,
): Station<Answer | Overflow> {
  const key = cacheKey(request)
  for (;;) {
    const hit = cache.get(key)
    if (hit !== undefined) {
      yield* replay(hit, ctx)
      const message = fromParts('assistant', hit.parts, { id: ctx.createId('msg') })
      ctx.ledger.free()
      return {
        type: 'answer',
        message,
        model,
        usage: ZERO_USAGE,
        finishReason: hit.finishReason,
        abstained: hit.abstained,
        cacheHit: true,
      }
    }
    const underWay = cache.underWay(key)
    if (underWay === undefined) break
    await orAborted(underWay, ctx.signal)
  }
  const end = cache.begin(key)
  try {
    const answer = yield* ask()
    if (answer.type === 'answer' && isWorthKeeping(answer, model, cache))
      cache.set(key, { ...answer, parts: answer.message.parts })
    return answer
  } finally {
    end()
  }
}

/** Only whole answers, and only under the name of the model that gave them. */
function isWorthKeeping({ message, finishReason, model }: Answer, asked: LanguageModel, cache: ResponseCache): boolean {
  if (model.ref !== asked.ref) return false
  return message.toolCalls === undefined ? finishReason === 'stop' : cache.toolCalls && finishReason === 'tool-calls'
}

function* replay({ parts }: CachedAnswer, { showThinking }: ModelContext): Generator<EventBody> {
  for (const part of parts) {
    if (part.type === 'text' && part.text !== '') yield { type: 'text_delta', text: part.text, attempt: 1 }
    else if (part.type === 'thinking' && part.text !== '' && showThinking)
      yield { type: 'thinking', content: part.text, attempt: 1 }
  }
}
