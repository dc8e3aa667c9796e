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
    messages: allFit(rest.messages, model) ? rest.messages : rest.messages.map((message) => fitMessage(message, model)),
    ...(fitted === undefined ? {} : { temperature: fitted }),
    stream: request.stream && facts.streaming !== false,
  }
}

interface Target {
  readonly ref: string
  readonly facts: ModelFacts
}

/** How far a conversation has been found to fit, and whom: it begins with the same message in every step. */
interface Checked {
  readonly model: Target['ref']
  readonly facts: ModelFacts
  readonly messages: number
  /** The last of them: another conversation may begin in the same way. */
  readonly last: RequestMessage | undefined
}

const checked = new WeakMap<RequestMessage, Checked>()

/** Looks at what is new since the last step. */
function allFit(messages: readonly RequestMessage[], model: Target): boolean {
  const [first] = messages
  if (first === undefined) return true
  const known = checked.get(first)
  const isSame = known?.model === model.ref && known.facts === model.facts && messages[known.messages - 1] === known.last
  for (let at = isSame ? known.messages : 0; at < messages.length; at++) {
    const message = messages[at]
    if (message !== undefined && !fitsAlready(message, model)) return false
  }
  checked.set(first, { model: model.ref, facts: model.facts, messages: messages.length, last: messages.at(-1) })
  return true
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
