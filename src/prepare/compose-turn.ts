/** Looks up what the stores hold about a question and composes the turn with it. */

import { ATTRIBUTE } from '../core/attributes.ts'
import type { Clock } from '../core/clock.ts'
import type { Message } from '../core/message.ts'
import type { Span } from '../core/span.ts'
import type { ChunkFilter, DocumentStore, StoreNotice } from '../core/store.ts'
import { choosePassages, composeChat, composeRag } from './compose.ts'
import type { Chosen, Composition, Found, RagComposition } from './compose.ts'
import type { Injection } from './inject.ts'
import type { WidenOptions } from './passages/widen.ts'
import type { RerankChoice } from './rerank.ts'
import { retrieveFrom } from './retrieve.ts'
import { questionOf } from './turn-input.ts'

export interface ChatTurn {
  readonly system: string
  readonly history: readonly Message[]
  /** What the user says now; not empty. */
  readonly messages: readonly Message[]
  readonly injection?: Injection
  readonly memory: DocumentStore | undefined
  /** What is searched for. */
  readonly query: string
  readonly nResults: number
  readonly span: Span
  readonly signal: AbortSignal
}

export interface RagTurn extends ChatTurn {
  readonly docstore: DocumentStore
  readonly filter?: ChunkFilter | undefined
  readonly rerank?: RerankChoice | undefined
  readonly widen?: boolean | WidenOptions | undefined
  readonly clock: Clock
  /** Tokens that the passages may take together; `null` when the context window is unknown. */
  readonly passageTokens: number | null
}

interface Composed<C extends Composition> {
  /** What each store returned. */
  readonly found: readonly Found[]
  /** What made it less than it could be. */
  readonly notices: readonly StoreNotice[]
  readonly composition: C
}

/** Looks up memories and composes a conversation. */
export async function composeChatTurn(turn: ChatTurn): Promise<Composed<Composition>> {
  const { memory, query, nResults } = turn
  const memories =
    memory === undefined ? undefined : await retrieveFrom(memory, query, nResults, { ...turn, name: 'memory_retrieval' })
  const composition = composeChat({ ...turn, input: turn.messages, ...(memories === undefined ? {} : { memories }) })
  const found = memories === undefined ? [] : [memories]
  return { found, notices: noticesOf(found), composition }
}

/** Retrieves from both stores and composes; the counts stand on `span`, which is the outer one. */
export async function composeRagTurn(rag: RagTurn): Promise<Composed<RagComposition>> {
  const { query, nResults, memory, span } = rag
  const documents = await findDocuments(rag)
  const memories =
    memory === undefined
      ? undefined
      : await retrieveFrom(memory, query, nResults, { span, signal: rag.signal, name: 'memory_retrieval' })
  const question = rag.messages.at(-1)
  if (question === undefined) throw new TypeError('A retrieval turn needs a message that asks something.')

  const input = {
    ...rag,
    history: [...rag.history, ...rag.messages.slice(0, -1)],
    question,
    searchedFor: query === questionOf(rag.messages) ? undefined : query,
    documents,
    ...(memories === undefined ? {} : { memories }),
  }
  const chosen = await widened(choosePassages(input), rag)
  const composition = composeRag(input, chosen)
  span.set({
    [ATTRIBUTE.query]: query,
    [ATTRIBUTE.nResults]: nResults,
    [ATTRIBUTE.documentsRetrieved]: documents.chunks.length,
    [ATTRIBUTE.documentsSent]: composition.documentsSent,
    [ATTRIBUTE.memoriesRetrieved]: memories?.chunks.length ?? 0,
    [ATTRIBUTE.memoriesSent]: composition.memoriesSent,
    [ATTRIBUTE.merged]: chosen.merged,
    [ATTRIBUTE.dropped]: composition.dropped,
  })
  const found = [documents, ...(memories === undefined ? [] : [memories])]
  return { found, notices: noticesOf(found), composition }
}

/** The best documents, in the order of the model that ranks them where there is one. */
async function findDocuments({
  docstore,
  query,
  nResults,
  filter,
  rerank: choice,
  span,
  signal,
  clock,
}: RagTurn): Promise<Found> {
  const asking = { span, signal, filter, name: 'retrieval' } as const
  if (choice === undefined || nResults === 0) return await retrieveFrom(docstore, query, nResults, asking)
  const { DEFAULT_CANDIDATES, rerank } = await import('./rerank.ts')
  const candidates = Math.max(nResults, choice.candidates ?? DEFAULT_CANDIDATES)
  const found = await retrieveFrom(docstore, query, candidates, asking)
  const { chunks, notice = found.notice } = await rerank(query, found.chunks, nResults, choice, { span, signal, clock })
  return { store: found.store, chunks, ...(notice === undefined ? {} : { notice }) }
}

async function widened(chosen: Chosen, { docstore, widen = false, signal }: RagTurn): Promise<Chosen> {
  if (widen === false || docstore.around === undefined) return chosen
  const { widenPassages } = await import('./passages/widen.ts')
  const options = widen === true ? {} : widen
  const { passages, left } = await widenPassages(chosen.documents, docstore, { ...options, room: chosen.left, signal })
  return { ...chosen, documents: passages, left }
}

function noticesOf(found: readonly Found[]): StoreNotice[] {
  return found.flatMap(({ notice }) => notice ?? [])
}
