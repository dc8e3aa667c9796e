/** The completion helpers that all bots share, for those who build a bot of their own. */

import { NoAssistantMessageError } from '../core/error.ts'
import type { Message, MessageInput } from '../core/message.ts'
import type { ModelPart, ModelRequest } from '../core/model.ts'
import type { ToolCallPart } from '../core/part.ts'
import { createId } from '../core/id.ts'
import type { Tool } from '../core/tool.ts'
import { foldParts, streamRequest, toolCallsInText } from '../engine/completion.ts'
import type { ModelResponse } from '../engine/completion.ts'
import { specOf } from '../engine/turn.ts'
import type { SimpleBot } from './simple-bot.ts'

export type { ModelResponse } from '../engine/completion.ts'

/** The provider call for these messages: role and content, model, temperature, settings, tools, response format. */
export function completionOptionsForMessages(
  bot: SimpleBot,
  messages: MessageInput,
  options: { readonly stream: boolean },
): ModelRequest {
  return bot.completionOptions(messages, options)
}

/** Makes the call and streams what comes back. No retry, no log. Leaving early closes the connection. */
export async function* makeResponse(
  bot: SimpleBot,
  messages: MessageInput,
  { stream = true, signal = new AbortController().signal }: { readonly stream?: boolean; readonly signal?: AbortSignal } = {},
): AsyncGenerator<ModelPart, void, undefined> {
  const model = await bot.model()
  yield* streamRequest(model, bot.completionOptions(messages, { stream, model }), signal)
}

/** Folds a stream into one response; `onText` is told of each delta as it comes. */
export function streamChunks(parts: AsyncIterable<ModelPart>, onText?: (text: string) => void): Promise<ModelResponse> {
  return foldParts(parts, onText)
}

/** Yields the text as it comes, then calls `finalize` with the assistant message. @throws NoAssistantMessageError when there is none. */
export async function* streamTokensForMessages(
  bot: SimpleBot,
  messages: MessageInput,
  { finalize, signal }: { readonly finalize?: (message: Message) => void | Promise<void>; readonly signal?: AbortSignal } = {},
): AsyncGenerator<string, Message, undefined> {
  const parts: ModelPart[] = []
  for await (const part of makeResponse(bot, messages, signal === undefined ? {} : { signal })) {
    parts.push(part)
    if (part.type === 'text') yield part.text
  }
  const { message, finishReason } = await foldParts(parts)
  if (finishReason === undefined || message.parts.length === 0) {
    throw new NoAssistantMessageError('The stream ended without an assistant message.')
  }
  await finalize?.(message)
  return message
}

/** The text of an answer; `''` for a reply of tool calls only. Never thinking. */
export function extractContent(response: Message | ModelResponse): string {
  return ('message' in response ? response.message : response).content
}

/**
 * The tool calls of an answer: those that it carries, or else, when its whole text is JSON that describes calls of `tools` with input that
 * fits, those. See `model/text-tool-calls.ts` for the forms that are understood.
 */
export function extractToolCalls(response: Message | ModelResponse, tools: readonly Tool[] = []): readonly ToolCallPart[] {
  const message = 'message' in response ? response.message : response
  return message.toolCalls ?? toolCallsInText(message.content, tools.map(specOf), createId)
}
