/** Station 1: makes the request of a step out of what the turn knows. */

import { ATTRIBUTE } from '../core/attributes.ts'
import type { StationContext, Station } from '../core/context.ts'
import type { ContextSource, EarlierRead } from '../core/injection.ts'
import type { Message } from '../core/message.ts'
import type {
  CallSettings,
  ModelFacts,
  ModelRequest,
  ResponseFormat,
  ThinkingEffort,
  ToolChoice,
  ToolSpec,
} from '../core/model.ts'
import type { Span } from '../core/span.ts'
import type { DocumentStore } from '../core/store.ts'
import type { CompactContext } from './compact/compact.ts'
import { makeRoom } from './compact/make-room.ts'
import type { Demand, Room } from './compact/make-room.ts'
import { DEFAULT_COMPACTION, outputReserve } from './compact/room.ts'
import { composeChat, composeRag } from './compose.ts'
import type { Composition, Found, RagComposition } from './compose.ts'
import { conversationOf } from './conversation.ts'
import type { Conversation } from './conversation.ts'
import { interruptionNotice, repairNotice } from './history-notices.ts'
import { inject } from './inject.ts'
import type { Injection } from './inject.ts'
import { repairHistory } from './repair.ts'
import { offeredTokens } from './request-tokens.ts'
import { DEFAULT_RESULTS, references, retrieveFrom } from './retrieve.ts'
import type { RetrievalOptions } from './retrieve.ts'
import { estimateTokens } from './tokens.ts'

/** What a turn was asked, before anything was found or answered. */
export interface TurnInput {
  readonly system: string
  /** What was said before in the session. */
  readonly history: readonly Message[]
  /** What the user says now; the last one holds the question. */
  readonly messages: readonly Message[]
  readonly retrieve?: RetrievalOptions
  /** What to look up beside it, and what is known from earlier in the session. */
  readonly context?: { readonly sources: readonly ContextSource[]; readonly reads: readonly EarlierRead[] }
}

export interface RequestOptions {
  readonly settings: CallSettings
  readonly tools: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  readonly responseFormat?: ResponseFormat
  readonly thinking?: ThinkingEffort
  readonly stream: boolean
}

export interface PrepareState {
  readonly input: TurnInput
  readonly request: RequestOptions
  readonly model: { readonly ref: string; readonly facts: ModelFacts }
  /** Absent before the first step. */
  readonly conversation: Conversation | undefined
  readonly step: number
  readonly room: Pick<Demand, 'compaction' | 'state' | 'tooLarge'>
}

export interface Prepared extends Room {
  readonly request: ModelRequest
}

/** @throws CriaError `store_failed` when a store fails. */
export async function* prepare(state: PrepareState, ctx: CompactContext): Station<Prepared> {
  const { input, request, model, step } = state
  const whole = state.conversation ?? (yield* compose(state, ctx))
  const asked = new Set(input.messages.map(({ id }) => id))
  const demand = { ...state.room, model, step, asked, settings: request.settings, fixed: offeredTokens(request) }
  const room = yield* makeRoom(whole, demand, ctx)
  return { ...room, request: buildRequest(state, room.conversation) }
}

async function* compose({ input, request, model }: PrepareState, ctx: StationContext): Station<Conversation> {
  const { docstore, memory, nResults = DEFAULT_RESULTS } = input.retrieve ?? {}
  const { sources = [], reads = [] } = input.context ?? {}
  const injection = yield* inject({ sources, reads, room: roomForContext(input, request, model.facts) }, ctx)
  const query = questionOf(input.messages)
  const search = { ...input, injection, memory, nResults, query, span: ctx.span, signal: ctx.signal }
  const passageTokens = roomForPassages(input, request, model.facts, injection.tokens)
  const { found, composition } =
    docstore === undefined ? await composeChatTurn(search) : await composeRagTurn({ ...search, docstore, passageTokens })
  for (const each of found) yield { type: 'retrieval', store: each.store, query: search.query, chunks: references(each) }

  const known: ReadonlySet<string> = new Set(input.history.map((message) => message.id))
  yield {
    type: 'note',
    entry: { type: 'messages', step: 0, messages: composition.messages.filter((message) => !known.has(message.id)) },
  }
  yield* interruptionNotice(input.history)
  const { messages, repairs } = repairHistory(composition.processedMessages)
  yield* repairNotice(repairs)
  return conversationOf(messages, composition.grounding, known)
}

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
  /** Tokens that the passages may take together; `null` when the context window is unknown. */
  readonly passageTokens: number | null
}

interface Composed<C extends Composition> {
  /** What each store returned. */
  readonly found: readonly Found[]
  readonly composition: C
}

/** Looks up memories and composes a conversation. */
export async function composeChatTurn(turn: ChatTurn): Promise<Composed<Composition>> {
  const { memory, query, nResults } = turn
  const memories =
    memory === undefined ? undefined : await retrieveFrom(memory, query, nResults, { ...turn, name: 'memory_retrieval' })
  const composition = composeChat({ ...turn, input: turn.messages, ...(memories === undefined ? {} : { memories }) })
  return { found: memories === undefined ? [] : [memories], composition }
}

/** Retrieves from both stores and composes; the counts stand on `span`, which is the outer one. */
export async function composeRagTurn(rag: RagTurn): Promise<Composed<RagComposition>> {
  const { query, nResults, memory, span } = rag
  const documents = await retrieveFrom(rag.docstore, query, nResults, { ...rag, name: 'retrieval' })
  const memories =
    memory === undefined ? undefined : await retrieveFrom(memory, query, nResults, { ...rag, name: 'memory_retrieval' })
  const question = rag.messages.at(-1)
  if (question === undefined) throw new TypeError('A retrieval turn needs a message that asks something.')

  const composition = composeRag({
    ...rag,
    history: [...rag.history, ...rag.messages.slice(0, -1)],
    question,
    documents,
    ...(memories === undefined ? {} : { memories }),
  })
  span.set({
    [ATTRIBUTE.query]: query,
    [ATTRIBUTE.nResults]: nResults,
    [ATTRIBUTE.documentsRetrieved]: documents.chunks.length,
    [ATTRIBUTE.documentsSent]: composition.documentsSent,
    [ATTRIBUTE.memoriesRetrieved]: memories?.chunks.length ?? 0,
    [ATTRIBUTE.memoriesSent]: composition.memoriesSent,
    [ATTRIBUTE.dropped]: composition.dropped,
  })
  return { found: [documents, ...(memories === undefined ? [] : [memories])], composition }
}

/** The request of a step. It fits any model; the model station adapts it to the one that answers. */
export function buildRequest(
  { request, model }: Pick<PrepareState, 'request' | 'model'>,
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

/** What is searched for: the text of the user's messages. */
export function questionOf(messages: readonly Message[]): string {
  return messages
    .filter((message) => message.role === 'user')
    .map((message) => message.content)
    .join('\n')
}

/** Of what is left when everything else has its place, so that an estimate that is too low does no harm. */
const PASSAGE_SHARE = 0.8

/**
 * Tokens that passages may take; `null` when nobody knows the window. A long history makes room for them.
 *
 * @param injected tokens of what was put in beside the conversation.
 */
export function roomForPassages(
  input: TurnInput,
  request: Pick<RequestOptions, 'settings'>,
  facts: ModelFacts,
  injected = 0,
): number | null {
  const contextWindow = facts.contextWindow ?? null
  if (contextWindow === null) return null
  const reserved = outputReserve(request.settings, facts, contextWindow)
  const history = Math.min(estimated(input.history), contextWindow * DEFAULT_COMPACTION.to)
  const said = history + estimated(input.messages) + estimateTokens(input.system)
  return Math.max(0, (contextWindow - reserved - said - injected) * PASSAGE_SHARE)
}

/** Of the window, for what is put in beside the conversation: it must not crowd out what is said. */
const CONTEXT_SHARE = 0.25

/** Tokens that injected context may take; `null` when nobody knows the window. A long history makes room for it. */
export function roomForContext(input: TurnInput, request: RequestOptions, facts: ModelFacts): number | null {
  const contextWindow = facts.contextWindow ?? null
  if (contextWindow === null) return null
  const asked = estimated(input.messages) + estimateTokens(input.system) + offeredTokens(request)
  const left = contextWindow - outputReserve(request.settings, facts, contextWindow) - asked
  return Math.max(0, Math.min(contextWindow * CONTEXT_SHARE, left / 2))
}

function estimated(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message.content), 0)
}
