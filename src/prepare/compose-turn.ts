/** Looks up what the stores hold about a question and composes the turn with it. */

import { ATTRIBUTE } from '../core/attributes.ts'
import type { Clock } from '../core/clock.ts'
import type { Message } from '../core/message.ts'
import type { Span } from '../core/span.ts'
import type { ChunkFilter, DocumentSource, StoreNotice } from '../core/store.ts'
import { choosePassages, composeChat, composeRag, correctionNotice } from './compose.ts'
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
  readonly injection?: Injection | undefined
  readonly memory: DocumentSource | undefined
  /** What is searched for. */
  readonly query: string
  readonly nResults: number
  readonly span: Span
  readonly signal: AbortSignal
}

export interface RagTurn extends ChatTurn {
  readonly docstore: DocumentSource
  /** Of the documents; the memory is not asked about it. */
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
  const { system, history, messages, injection } = turn
  const memories = await findMemories(turn)
  const composition = composeChat({ system, history, memories, injection, input: messages })
  return { ...foundIn(memories), composition }
}

/** Retrieves from both stores and composes; the counts stand on `span`, which is the outer one. */
export async function composeRagTurn(turn: RagTurn): Promise<Composed<RagComposition>> {
  const { system, history, messages, injection, query, nResults, span, passageTokens } = turn
  const documents = await findDocuments(turn)
  const remembered = await findMemories(turn)
  // Of a conversation only what was said in words can be a passage.
  const memories = remembered && { ...remembered, chunks: remembered.chunks.filter(({ text }) => text.trim() !== '') }
  const question = messages.at(-1)
  if (question === undefined) throw new TypeError('A retrieval turn needs a message that asks something.')

  const chosen = await widened(choosePassages({ documents, memories, passageTokens }), turn)
  const spoken = { system, history: [...history, ...messages.slice(0, -1)], question, injection }
  const searchedFor = query === questionOf(messages) ? undefined : query
  const composition = composeRag({ ...spoken, searchedFor, documents, memories, passageTokens }, chosen)
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
  return { ...foundIn(documents, memories), composition }
}

async function findMemories({ memory, query, nResults, span, signal }: ChatTurn): Promise<Found | undefined> {
  if (memory === undefined) return undefined
  return await retrieveFrom(memory, query, nResults, { name: 'memory_retrieval', span, signal })
}

/** The best documents, in the order of the model that ranks them where there is one. */
async function findDocuments(turn: RagTurn): Promise<Found> {
  const { docstore, query, nResults, filter, rerank: choice, span, signal, clock } = turn
  const asking = { span, signal, filter, name: 'retrieval' } as const
  if (choice === undefined || nResults === 0) return await retrieveFrom(docstore, query, nResults, asking)
  const { DEFAULT_CANDIDATES, rerank } = await import('./rerank.ts')
  const candidates = Math.max(nResults, choice.candidates ?? DEFAULT_CANDIDATES)
  const found = await retrieveFrom(docstore, query, candidates, asking)
  const { chunks, notice = found.notice } = await rerank(query, found.chunks, nResults, choice, { span, signal, clock })
  return { store: found.store, chunks, ...(notice === undefined ? {} : { notice }) }
}

async function widened(
  chosen: Chosen,
  { docstore, widen = false, signal }: Pick<RagTurn, 'docstore' | 'widen' | 'signal'>,
): Promise<Chosen> {
  if (widen === false || docstore.around === undefined) return chosen
  const { widenPassages } = await import('./passages/widen.ts')
  const options = widen === true ? {} : widen
  const { passages, left } = await widenPassages(chosen.documents, docstore, { ...options, room: chosen.left, signal })
  return { ...chosen, documents: passages, left }
}

function foundIn(...stores: readonly (Found | undefined)[]): Pick<Composed<Composition>, 'found' | 'notices'> {
  const found = stores.filter((each) => each !== undefined)
  const corrected = correctionNotice(stores[0]?.chunks[0]?.evidence?.corrections)
  return { found, notices: [...found.flatMap(({ notice }) => notice ?? []), ...(corrected === undefined ? [] : [corrected])] }
}
