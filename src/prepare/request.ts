/** The request of a step: what was said, and how the caller wants it answered. */

import type { CallSettings, ModelRequest, ResponseFormat, ThinkingEffort, ToolChoice, ToolSpec } from '../core/model.ts'
import type { Conversation } from './conversation.ts'

export interface RequestOptions {
  readonly settings: CallSettings
  readonly tools: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  readonly responseFormat?: ResponseFormat
  readonly thinking?: ThinkingEffort
  readonly stream: boolean
}

/** It fits any model; the model station adapts it to the one that answers. */
export function buildRequest(
  { request, model }: { readonly request: RequestOptions; readonly model: { readonly ref: string } },
  conversation: Conversation,
): ModelRequest {
  return {
    model: model.ref,
    messages: conversation.messages,
    ...request.settings,
    stream: request.stream,
    ...(request.tools.length === 0 ? {} : { tools: request.tools }),
    ...(request.toolChoice === undefined ? {} : { toolChoice: request.toolChoice }),
    ...(request.responseFormat === undefined ? {} : { responseFormat: request.responseFormat }),
    ...(request.thinking === undefined ? {} : { thinking: request.thinking }),
    ...(conversation.grounding === undefined ? {} : { grounding: conversation.grounding }),
  }
}
