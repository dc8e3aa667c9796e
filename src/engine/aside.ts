/** Asks a model beside the conversation, for a summary or a judgement. The call is paid for like any other, and yields no events. */

import type { LanguageModel, ResponseFormat } from '../core/model.ts'
import type { Message } from '../core/message.ts'
import { CriaError } from '../core/error.ts'
import type { Answer, ModelContext } from '../model/answer.ts'
import { streamModel } from '../model/stream.ts'
import type { Complete } from '../prepare/compact/compact.ts'
import { conversationOf } from '../prepare/conversation.ts'
import { buildRequest } from '../prepare/request.ts'

/** The text of a whole answer. @throws CriaError `invalid_response` for one that was cut, called a tool, or holds no text. */
function textOf({ message, finishReason, model: { ref } }: Answer): string {
  const fault =
    message.toolCalls !== undefined
      ? 'called a tool'
      : finishReason === 'length'
        ? 'was cut at the limit of its output'
        : finishReason === 'content-filter'
          ? 'was withheld by the provider'
          : message.content.trim() === ''
            ? 'holds no text'
            : undefined
  if (fault !== undefined) throw new CriaError('invalid_response', `The answer of ${ref} ${fault}.`)
  return message.content
}

/** Of the models, the ones that can write answer, in this order; `undefined` when there is none. */
export function completeAside(
  models: readonly (LanguageModel | undefined)[],
  ctx: ModelContext,
  responseFormat?: ResponseFormat,
): Complete | undefined {
  const [model, ...others] = models.flatMap((each) => (each === undefined || each.facts.writes === false ? [] : [each]))
  if (model === undefined) return undefined
  return {
    contextWindow: model.facts.contextWindow,
    async ask(messages: readonly Message[], maxOutputTokens: number, operation = 'summarise'): Promise<string> {
      const span = ctx.span.child(operation)
      const settings = { maxOutputTokens: Math.min(maxOutputTokens, model.facts.maxOutputTokens ?? maxOutputTokens) }
      const request = buildRequest(model.ref, conversationOf(messages), {
        settings,
        tools: [],
        stream: true,
        ...(responseFormat === undefined ? {} : { responseFormat }),
      })
      const chain = { models: [model, ...others], current: 0 }
      try {
        const asked = streamModel(request, { ...ctx, span, chain, cache: undefined, showThinking: false })
        for (;;) {
          const next = await asked.next()
          if (next.done !== true) continue
          if (next.value.type === 'overflow') throw next.value.error
          return textOf(next.value)
        }
      } catch (thrown) {
        span.fail(thrown)
        throw thrown
      } finally {
        span.end()
      }
    },
  }
}
