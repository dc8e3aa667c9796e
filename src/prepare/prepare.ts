/** Station 1: makes the request of a step out of what the turn knows. */

import { ATTRIBUTE } from '../core/attributes.ts'
import type { Clock } from '../core/clock.ts'
import type { Station } from '../core/context.ts'
import { toCriaError } from '../core/error.ts'
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
import type { ChunkFilter, DocumentStore, StoreNotice } from '../core/store.ts'
import type { CompactContext } from './compact/compact.ts'
import { makeRoom } from './compact/make-room.ts'
import type { Demand, Room } from './compact/make-room.ts'
import { DEFAULT_COMPACTION, outputReserve } from './compact/room.ts'
import { choosePassages, composeChat, composeRag } from './compose.ts'
import type { Chosen, Composition, Found, RagComposition } from './compose.ts'
import { conversationOf } from './conversation.ts'
import type { Conversation } from './conversation.ts'
import { interruptionNotice, repairNotice } from './history-notices.ts'
import { searchQuery } from './follow-up.ts'
import { GROUNDING_RULES } from './grounding.ts'
import { inject } from './inject.ts'
import type { Injection } from './inject.ts'
import type { WidenOptions } from './passages/widen.ts'
import { repairHistory } from './repair.ts'
import { estimateMessageTokens, offeredTokens } from './request-tokens.ts'
import type { RerankChoice } from './rerank.ts'
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
  /** What was done about it so far, when a turn is handed over half way: calls and their results. */
  readonly since?: readonly Message[]
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

async function* compose({ input, request, model }: PrepareState, ctx: CompactContext): Station<Conversation> {
  const { docstore, memory, nResults = DEFAULT_RESULTS, ...retrieve } = input.retrieve ?? {}
  const { sources = [], reads = [] } = input.context ?? {}
  const { history, since = [] } = input
  const before = since.length === 0 ? history : [...history, ...since]
  const injection = yield* inject({ sources, reads, room: roomForContext(input, request, model.facts) }, ctx)
  const { span, signal, clock } = ctx
  const passageTokens = roomForPassages(input, request, model.facts, injection.tokens)
  const query = docstore === undefined ? questionOf(input.messages) : yield* searchedFor(input, ctx)
  const search = { ...input, ...retrieve, injection, memory, nResults, query, span, signal, clock }
  // What only quotes finds its sentences in the passages that were found; what stands around them distracts it.
  const widen = model.facts.writes === false ? false : retrieve.widen
  const { found, notices, composition } =
    docstore === undefined ? await composeChatTurn(search) : await composeRagTurn({ ...search, docstore, passageTokens, widen })
  for (const each of found) yield { type: 'retrieval', store: each.store, query, chunks: references(each) }
  for (const notice of notices) yield { type: 'notice', ...notice }

  const known: ReadonlySet<string> = new Set(history.map(({ id }) => id))
  yield {
    type: 'note',
    entry: { type: 'messages', step: 0, messages: [...composition.messages.filter(({ id }) => !known.has(id)), ...since] },
  }
  yield* interruptionNotice(before)
  const { messages, repairs } = repairHistory([...composition.processedMessages, ...since])
  yield* repairNotice(repairs)
  return conversationOf(messages, composition.grounding, new Set(before.map(({ id }) => id)))
}

/** The question, or what it means after what was asked before. */
async function* searchedFor({ messages, history, retrieve }: TurnInput, ctx: CompactContext): Station<string> {
  const question = questionOf(messages)
  const { followUps = 'words' } = retrieve ?? {}
  const earlier = history.filter(({ role, summary, injected }) => role === 'user' && summary !== true && injected === undefined)
  if (followUps === 'off' || earlier.length === 0) return question
  const complete = followUps === 'model' ? ctx.complete() : undefined
  if (complete !== undefined) {
    try {
      const { rewriteQuestion } = await import('./rewrite.ts')
      const rewritten = await rewriteQuestion(question, history, complete)
      if (rewritten !== undefined) return rewritten
    } catch (thrown) {
      if (ctx.signal.aborted) throw ctx.signal.reason
      const { message } = toCriaError(thrown)
      yield { type: 'notice', code: 'rewrite_failed', message: `The question was not written out by a model: ${message}` }
    }
  }
  return searchQuery(
    question,
    earlier.map(({ content }) => content),
  )
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
function roomForPassages(
  input: TurnInput,
  request: Pick<RequestOptions, 'settings' | 'tools' | 'responseFormat'>,
  facts: ModelFacts,
  injected = 0,
): number | null {
  const contextWindow = facts.contextWindow ?? null
  if (contextWindow === null) return null
  const reserved = outputReserve(request.settings, facts, contextWindow)
  const history = Math.min(estimated(input.history), contextWindow * DEFAULT_COMPACTION.to)
  const said = history + estimated(input.messages) + estimateTokens(input.system) + estimateTokens(GROUNDING_RULES)
  return Math.max(0, (contextWindow - reserved - said - injected - offeredTokens(request)) * PASSAGE_SHARE)
}

/** Of the window, for what is put in beside the conversation: it must not crowd out what is said. */
const CONTEXT_SHARE = 0.25

/** Tokens that injected context may take; `null` when nobody knows the window. A long history makes room for it. */
function roomForContext(input: TurnInput, request: RequestOptions, facts: ModelFacts): number | null {
  const contextWindow = facts.contextWindow ?? null
  if (contextWindow === null) return null
  const asked = estimated(input.messages) + estimateTokens(input.system) + offeredTokens(request)
  const left = contextWindow - outputReserve(request.settings, facts, contextWindow) - asked
  return Math.max(0, Math.min(contextWindow * CONTEXT_SHARE, left / 2))
}

function estimated(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
}
