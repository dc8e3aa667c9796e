/** What a request comes to in tokens, before anybody has counted it. */

import type { ModelRequest, RequestMessage } from '../core/model.ts'
import type { Part } from '../core/part.ts'
import { estimateTokens } from './tokens.ts'

/** What a provider puts around every message: role, separators. */
const PER_MESSAGE = 4
/** Providers count images by tiles of their own; this is what most take for a large one. */
const PER_ATTACHMENT = 1600

const counted = new WeakMap<RequestMessage, number>()

/** Messages, tools and schema together, by the estimate of `tokens.ts`. A message is counted once, however often it is sent. */
export function estimateRequestTokens({ messages, tools, responseFormat }: ModelRequest): number {
  const said = messages.reduce((sum, message) => sum + messageTokens(message), 0)
  const offered = tools === undefined ? 0 : estimateTokens(JSON.stringify(tools))
  const wanted = responseFormat?.schema === undefined ? 0 : estimateTokens(JSON.stringify(responseFormat.schema))
  return said + offered + wanted
}

/** Text, thinking and tool calls of an answer, whole or broken off. */
export function estimatePartTokens(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + partTokens(part), 0)
}

function messageTokens(message: RequestMessage): number {
  let tokens = counted.get(message)
  if (tokens === undefined) {
    tokens = PER_MESSAGE + Math.max(estimatePartTokens(message.parts), estimateTokens(message.content))
    counted.set(message, tokens)
  }
  return tokens
}

function partTokens(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return estimateTokens(part.text)
    case 'tool-call':
      return estimateTokens(part.name) + estimateTokens(JSON.stringify(part.input))
    case 'tool-result':
      return estimateTokens(part.content) + (part.attachments?.length ?? 0) * PER_ATTACHMENT
    case 'opaque':
      return estimateTokens(JSON.stringify(part.providerData))
    default:
      return PER_ATTACHMENT
  }
}
