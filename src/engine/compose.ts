/** Composition without a turn: what bots show of how they put a request together. */

import type { Message } from '../core/message.ts'
import type { Span } from '../core/span.ts'
import type { DocumentStore } from '../core/store.ts'
import type { RagComposition } from '../prepare/compose.ts'
import { composeChatTurn, composeRagTurn } from '../prepare/compose-turn.ts'
import type { ChatTurn } from '../prepare/compose-turn.ts'
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
  const { docstore, filter, rerank, widen } = input
  const search = { ...searchOf(input), docstore, filter, rerank, widen }
  const { composition } = await composeRagTurn({ ...search, clock: systemClock, passageTokens: null })
  return composition
}

function searchOf({ system, messages, memory, nResults, span }: ComposeInput): ChatTurn {
  return {
    system,
    history: [],
    messages,
    memory,
    query: questionOf(messages),
    nResults,
    span: span ?? currentSpan() ?? startSpan('compose', { clock: systemClock, sink: () => {} }),
    signal: new AbortController().signal,
  }
}
