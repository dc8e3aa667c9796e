/** Composition without a turn: what bots show of how they put a request together. */

import type { Message } from '../core/message.ts'
import type { Span } from '../core/span.ts'
import type { DocumentStore } from '../core/store.ts'
import type { RagComposition } from '../prepare/compose.ts'
import { composeChatTurn, composeRagTurn } from '../prepare/compose-turn.ts'
import type { RetrievalOptions } from '../prepare/retrieve.ts'
import { questionOf } from '../prepare/turn-input.ts'
import { systemClock } from '../util/clock.ts'
import { currentSpan, startSpan } from './span.ts'

export type { RagComposition } from '../prepare/compose.ts'
export { DEFAULT_RESULTS } from '../prepare/retrieve.ts'

export interface ComposeInput {
  readonly system: string
  readonly messages: readonly Message[]
  readonly memory: DocumentStore | undefined
  readonly nResults: number
  /** Where the spans of the retrieval go; default the current span, else nowhere. */
  readonly span?: Span | undefined
}

/** System prompt, memories, user messages. @throws CriaError `store_failed` when the memory fails. */
export async function composeForChat(input: ComposeInput): Promise<readonly Message[]> {
  const { composition } = await composeChatTurn(searchOf(input))
  return composition.messages
}

/** System prompt, document passages, memories, question. @throws CriaError `store_failed` when a store fails. */
export async function composeForRag(
  input: ComposeInput & Pick<RetrievalOptions, 'filter' | 'rerank' | 'widen'> & { readonly docstore: DocumentStore },
): Promise<RagComposition> {
  const { composition } = await composeRagTurn({ ...input, ...searchOf(input), clock: systemClock, passageTokens: null })
  return composition
}

function searchOf(input: ComposeInput): Parameters<typeof composeChatTurn>[0] {
  return {
    ...input,
    history: [],
    query: questionOf(input.messages),
    span: input.span ?? currentSpan() ?? startSpan('compose', { clock: systemClock, sink: () => {} }),
    signal: new AbortController().signal,
  }
}
