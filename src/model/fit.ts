/** Fits a request to what a model can take; the facts are data of the model catalogue, each with only its own effect. */

import type { ModelFacts, ModelRequest, RequestMessage } from '../core/model.ts'
import type { Part } from '../core/part.ts'

export function fitRequest(request: ModelRequest, model: { readonly ref: string; readonly facts: ModelFacts }): ModelRequest {
  const { facts, ref } = model
  const { temperature, ...rest } = request
  const fitted = facts.fixedTemperature ?? temperature
  return {
    ...rest,
    model: ref,
    messages: rest.messages.map((message) => fitMessage(message, model)),
    ...(fitted === undefined ? {} : { temperature: fitted }),
    stream: request.stream && facts.streaming !== false,
  }
}

function fitMessage(
  message: RequestMessage,
  { ref, facts }: { readonly ref: string; readonly facts: ModelFacts },
): RequestMessage {
  if (facts.systemRole === false && (message.role === 'system' || message.role === 'developer'))
    return { ...message, role: 'user' }
  // Signatures of another model's thinking are not valid here, and the thinking itself is not part of the answer.
  if (message.parts.some((part) => isForeignThought(part, ref))) {
    return { ...message, parts: message.parts.filter((part) => !isForeignThought(part, ref)) }
  }
  return message
}

function isForeignThought(part: Part, ref: string): boolean {
  return part.type === 'thinking' && part.model !== undefined && part.model !== ref
}
