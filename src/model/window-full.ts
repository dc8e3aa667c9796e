/** Providers that do not refuse a request which fills the window, but have no room left for an answer. */

import { CriaError } from '../core/error.ts'
import type { LanguageModel, ModelRequest } from '../core/model.ts'
import type { Assembled } from './assemble.ts'

/** More than this many tokens of output were not for lack of room. */
const NO_OUTPUT = 1

/** The error that the provider should have sent; `undefined` when the answer was not ended before it began. */
export function windowFull(assembled: Assembled, request: ModelRequest, { ref }: LanguageModel): CriaError | undefined {
  const { finishReason, rawReason, parts, usage } = assembled
  if (finishReason !== 'length' || parts.some((part) => part.type !== 'thinking')) return undefined
  const says = rawReason !== undefined && /context|window/i.test(rawReason)
  const wanted = request.maxOutputTokens ?? Infinity
  const hadNoRoom = parts.length === 0 && (usage.outputTokens ?? Infinity) <= NO_OUTPUT && wanted > NO_OUTPUT
  if (!says && !hadNoRoom) return undefined
  return new CriaError('context_length', `${ref} had no room left for an answer: the request fills its context window.`, {
    details: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
  })
}
