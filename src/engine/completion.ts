/** Makes one model call without the loop, for the helpers of the bots. */

import { fromParts } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { FinishReason, LanguageModel, ModelPart, ModelRequest } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import { Assembler } from '../model/assemble.ts'
import { fitRequest } from '../model/fit.ts'
import { fenced } from '../prepare/fence.ts'
import { systemClock } from '../util/clock.ts'
import { currentSpan, startSpan } from './span.ts'
import { conversationOf } from '../prepare/conversation.ts'
import { repairHistory } from '../prepare/repair.ts'
import { buildRequest } from '../prepare/request.ts'
import type { RequestOptions } from '../prepare/request.ts'

export { toolCallsInText } from '../model/text-tool-calls.ts'

/** The request for these messages as this model can take it. */
export function completionRequest(messages: readonly Message[], model: LanguageModel, request: RequestOptions): ModelRequest {
  return fitRequest(buildRequest(model.ref, conversationOf(messages.map(fenced)), request), model).request
}

/** A finished answer of one model call. */
export interface ModelResponse {
  /** The answer of the model. */
  readonly message: Message
  /** Tokens of the request; what is not known is `null`. */
  readonly usage: Usage
  /** Absent when the stream broke off. */
  readonly finishReason: FinishReason | undefined
}

/** Makes one call, without a turn around it: the parts as they come. */
export async function* streamRequest(
  model: LanguageModel,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void, undefined> {
  const span = currentSpan() ?? startSpan('llm_request', { clock: systemClock, sink: () => {} })
  const { messages } = repairHistory(request.messages)
  yield* model.stream({ ...request, messages }, { signal, span })
}

/** Folds the parts of one answer into a response; `onText` is told of each delta as it comes. */
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
