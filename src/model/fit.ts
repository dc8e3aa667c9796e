/** Fits a request to what a model can take; the facts are data of the model catalogue, each with only its own effect. */

import type { ModelFacts, ModelRequest, RequestMessage } from '../core/model.ts'
import type { Part } from '../core/part.ts'

export function fitRequest(request: ModelRequest, model: Target): ModelRequest {
  const { facts, ref } = model
  const { temperature, ...rest } = request
  const fitted = facts.fixedTemperature ?? temperature
  return {
    ...rest,
    model: ref,
    // Most requests fit as they are; a long conversation is then passed on, not copied.
    messages: rest.messages.every((message) => fitsAlready(message, model))
      ? rest.messages
      : rest.messages.map((message) => fitMessage(message, model)),
    ...(fitted === undefined ? {} : { temperature: fitted }),
    stream: request.stream && facts.streaming !== false,
  }
}

interface Target {
  readonly ref: string
  readonly facts: ModelFacts
}

function fitsAlready({ role, parts }: RequestMessage, { ref, facts }: Target): boolean {
  if (facts.systemRole === false && (role === 'system' || role === 'developer')) return false
  return role !== 'assistant' || !parts.some((part) => isForeignThought(part, ref))
}

function fitMessage(message: RequestMessage, model: Target): RequestMessage {
  if (fitsAlready(message, model)) return message
  if (message.role !== 'assistant') return { ...message, role: 'user' }
  // Signatures of another model's thinking are not valid here, and the thinking itself is not part of the answer.
  return { ...message, parts: message.parts.filter((part) => !isForeignThought(part, model.ref)) }
}

function isForeignThought(part: Part, ref: string): boolean {
  return part.type === 'thinking' && part.model !== undefined && part.model !== ref
}
