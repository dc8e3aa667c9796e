/** Completion helpers that all bots share, for building custom bots. */

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

/** Builds the provider request for these messages: messages, model, temperature, settings, tools, response format. */
export function completionOptionsForMessages(
  bot: SimpleBot,
  messages: MessageInput,
  options: { readonly stream: boolean },
): ModelRequest {
  return bot.completionOptions(messages, options)
}

/** Sends the request and streams the response, without retries or a journal. Leaving early closes the connection. */
export async function* makeResponse(
  bot: SimpleBot,
  messages: MessageInput,
  { stream = true, signal = new AbortController().signal }: { readonly stream?: boolean; readonly signal?: AbortSignal } = {},
): AsyncGenerator<ModelPart, void, undefined> {
  const model = await bot.model()
  yield* streamRequest(model, bot.completionOptions(messages, { stream, model }), signal)
}

/** Folds a stream into one response; `onText` receives each text delta as it arrives. */
export function streamChunks(parts: AsyncIterable<ModelPart>, onText?: (text: string) => void): Promise<ModelResponse> {
  return foldParts(parts, onText)
}

/** Yields the text as it arrives, then calls `finalize` with the assistant message. @throws NoAssistantMessageError when there is none. */
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

/** Returns the text of an answer without thinking; `''` for a reply that only calls tools. */
export function extractContent(response: Message | ModelResponse): string {
  return ('message' in response ? response.message : response).content
}

/**
 * Returns the tool calls of an answer. Without any, and if its whole text is JSON that describes calls of `tools` with valid input, returns
 * those. See `model/text-tool-calls.ts` for the recognised forms.
 */
export function extractToolCalls(response: Message | ModelResponse, tools: readonly Tool[] = []): readonly ToolCallPart[] {
  const message = 'message' in response ? response.message : response
  return message.toolCalls ?? toolCallsInText(message.content, tools.map(specOf), createId)
}
