/** Composes requests without a turn, for bots that show a preview of a request. */

import { createId } from '../core/id.ts'
import type { Message } from '../core/message.ts'
import type { Grounding, LanguageModel } from '../core/model.ts'
import type { Span } from '../core/span.ts'
import type { DocumentSource } from '../core/store.ts'
import { fitRequest } from '../model/fit.ts'
import type { CompactionOptions } from '../prepare/compact/room.ts'
import { composeChat } from '../prepare/compose.ts'
import type { RagComposition } from '../prepare/compose.ts'
import { asMessage, questionOf } from '../prepare/conversation.ts'
import { prepare } from '../prepare/prepare.ts'
import type { RequestOptions } from '../prepare/conversation.ts'
import { findMemories } from '../prepare/retrieve.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import { systemClock } from '../util/clock.ts'
import { currentSpan, startSpan } from './span.ts'
import { inputOf } from './turn.ts'

export type { RagComposition } from '../prepare/compose.ts'
export { DEFAULT_RESULTS } from '../prepare/retrieve.ts'

export interface ChatPreview {
  readonly system: string
  readonly messages: readonly Message[]
  readonly memory: DocumentSource | undefined
  readonly nResults: number
}

/** Composes system prompt, memories and user messages. @throws CriaError `store_failed` if the memory fails. */
export async function previewChat({ system, messages, memory, nResults }: ChatPreview): Promise<readonly Message[]> {
  const search = { query: questionOf(messages), nResults, span: spanAround(), signal: new AbortController().signal }
  const memories = memory && (await findMemories(memory, search))
  return composeChat({ system, history: [], memories, input: messages }).messages
}

export interface RagPreview {
  readonly system: string
  readonly messages: readonly Message[]
  readonly retrieve: RetrievalOptions
  /** The model of the request: parts that it cannot read are left out, and its window limits the request. */
  readonly model: LanguageModel
  readonly request: RequestOptions
  readonly compaction: CompactionOptions | false
  /** Parent of the retrieval spans; default the current span, if any. */
  readonly span?: Span | undefined
}

/**
 * Composes system prompt, document passages, memories and question: `messages` as a turn records them, `processedMessages` as it sends them.
 * Makes no model call: messages that a turn would summarise are left out.
 *
 * @throws CriaError `store_failed` if a store fails.
 */
export async function previewRag(input: RagPreview): Promise<RagComposition> {
  const { model, request, compaction, retrieve } = input
  const turn = inputOf({ system: input.system, prompt: input.messages, retrieve })
  const { signal } = new AbortController()
  const span = input.span ?? spanAround()
  const ctx = { sessionId: '', turnId: '', signal, clock: systemClock, createId, span, complete: () => undefined }
  const room = { compaction, state: 'new', tooLarge: undefined } as const
  const station = prepare({ input: turn, request, model, conversation: undefined, step: 1, room }, ctx)
  const composed: Message[] = []
  let next = await station.next()
  for (; next.done !== true; next = await station.next()) {
    const noted = next.value.type === 'note' && next.value.entry.type === 'messages' ? next.value.entry.messages : []
    composed.push(...noted)
  }
  const { grounding = NO_GROUNDING, dropped = 0 } = next.value.conversation
  const sent = (origin: 'docstore' | 'memory'): number => grounding.passages.filter((each) => each.origin === origin).length
  const instructions = composed.findLastIndex(({ role }) => role === 'system') + 1
  return {
    messages: composed.toSpliced(instructions, 0, ...turn.history),
    processedMessages: fitRequest(next.value.request, model).request.messages.map(asMessage),
    grounding,
    documentsSent: sent('docstore'),
    memoriesSent: sent('memory'),
    dropped,
  }
}

const NO_GROUNDING: Grounding = { question: '', passages: [], weights: {} }

function spanAround(): Span {
  return currentSpan() ?? startSpan('compose', { clock: systemClock, sink: () => {} })
}
