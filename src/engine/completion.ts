/** Makes model calls outside the loop: for the helpers of bots, for summaries and for judging citations. */

import { CriaError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import { fromParts } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { FinishReason, LanguageModel, ModelPart, ModelRequest, ResponseFormat } from '../core/model.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { Tool } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import type { Answer, ModelContext } from '../model/answer.ts'
import { Assembler } from '../model/assemble.ts'
import { fitRequest } from '../model/fit.ts'
import { streamModel } from '../model/stream.ts'
import type { Complete } from '../prepare/compact/compact.ts'
import { buildRequest, conversationOf } from '../prepare/conversation.ts'
import { fenced } from '../prepare/fence.ts'
import { repairHistory } from '../prepare/repair.ts'
import type { RequestOptions } from '../prepare/conversation.ts'
import { fitted } from '../tools/prepare-call.ts'
import { systemClock } from '../util/clock.ts'
import { currentSpan, startSpan } from './span.ts'

export { toolCallsInText } from '../model/text-tool-calls.ts'

/** Makes the request for these messages, adapted to what the model accepts. */
export function completionRequest(messages: readonly Message[], model: LanguageModel, request: RequestOptions): ModelRequest {
  return fitRequest(buildRequest(model.ref, conversationOf(messages.map(fenced)), request), model).request
}

/** A finished answer of one model call. */
export interface ModelResponse {
  /** The answer of the model. */
  readonly message: Message
  /** Tokens of the request; unknown numbers are `null`. */
  readonly usage: Usage
  /** Absent when the stream broke off. */
  readonly finishReason: FinishReason | undefined
}

/** Makes one model call without a turn, and yields the parts as they arrive. */
export async function* streamRequest(
  model: LanguageModel,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void, undefined> {
  const span = currentSpan() ?? startSpan('llm_request', { clock: systemClock, sink: () => {} })
  const { messages } = repairHistory(request.messages)
  yield* model.stream({ ...request, messages }, { signal, span })
}

/** Folds the parts of one answer into a response; `onText` receives each delta as it arrives. */
export async function foldParts(
  parts: AsyncIterable<ModelPart> | Iterable<ModelPart>,
  onText?: (text: string) => void,
): Promise<ModelResponse> {
  const assembler = new Assembler()
  for await (const part of parts) {
    assembler.add(part)
    if (part.type === 'text') onText?.(part.text)
    if (part.type === 'finish') break
  }
  const { parts: content, usage, finishReason } = assembler.result()
  return { message: fromParts('assistant', content), usage, finishReason }
}

export interface CheckedCalls {
  /** Valid calls: their tool exists and their arguments match, with its name and the input that its schema returns. */
  readonly fitting: readonly ToolCallPart[]
  /** Invalid calls, with the fault in `invalid`. */
  readonly misfits: readonly ToolCallPart[]
}

/** Checks calls against the schemas of the tools, in the order of the calls. */
export async function checkedCalls(calls: readonly ToolCallPart[], tools: readonly Tool[]): Promise<CheckedCalls> {
  const fitting: ToolCallPart[] = []
  const misfits: ToolCallPart[] = []
  for (const call of calls) {
    const fit = await fitted(call, tools)
    if ('problem' in fit) misfits.push({ ...call, invalid: fit.problem })
    else fitting.push({ ...call, name: fit.tool.name, input: fit.input as Json })
  }
  return { fitting, misfits }
}

const ENDED_EARLY: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'was cut at the limit of its output',
  'content-filter': 'was withheld by the provider',
}

/** Returns the text of a complete answer. @throws CriaError `invalid_response` if it was cut, calls a tool, or holds no text. */
function textOf({ message, finishReason, model: { ref } }: Answer): string {
  const blank = message.content.trim() === '' ? 'holds no text' : undefined
  const fault = message.toolCalls === undefined ? (ENDED_EARLY[finishReason] ?? blank) : 'called a tool'
  if (fault !== undefined) throw new CriaError('invalid_response', `The answer of ${ref} ${fault}.`)
  return message.content
}

/** Returns a function that asks the models that can write, in this order; `undefined` if there is none. */
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
