/** Makes the request of a step. */

import type { CallSettings, ModelRequest, ResponseFormat, ThinkingEffort, ToolChoice, ToolSpec } from '../core/model.ts'
import type { Conversation } from './conversation.ts'
import { defined } from '../util/check.ts'

export interface RequestOptions {
  readonly settings: CallSettings
  readonly tools: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  readonly responseFormat?: ResponseFormat
  readonly thinking?: ThinkingEffort
  readonly stream: boolean
}

/** @param model its `ref`. The request fits any model; the model station adapts it to the one that answers. */
export function buildRequest(
  model: string,
  { messages, grounding }: Pick<Conversation, 'messages' | 'grounding'>,
  { settings, tools, toolChoice, responseFormat, thinking, stream }: RequestOptions,
): ModelRequest {
  return {
    model,
    messages,
    ...settings,
    stream,
    ...(tools.length === 0 ? {} : { tools }),
    ...defined({ toolChoice, responseFormat, thinking, grounding }),
  }
}
