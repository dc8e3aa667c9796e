/** The prepare station: builds the request of a step from the state of the turn. */

import { ATTRIBUTE } from '../core/span.ts'
import type { Station } from '../core/context.ts'
import { ConfigurationError } from '../core/error.ts'
import type { EventBody } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { ModelFacts, ModelRequest } from '../core/model.ts'
import type { CompactContext } from './compact/compact.ts'
import { makeRoom } from './compact/make-room.ts'
import type { Demand, Room } from './compact/make-room.ts'
import { choosePassages, composeChat, composeRag } from './compose.ts'
import type { Composition, RagComposition } from './compose.ts'
import { buildRequest, conversationOf, questionOf } from './conversation.ts'
import type { Conversation, RequestOptions, TurnInput } from './conversation.ts'
import { inject } from './inject.ts'
import type { Injection } from './inject.ts'
import { repairHistory } from './repair.ts'
import type { Defect, Repair } from './repair.ts'
import { offeredTokens } from './tokens.ts'
import { DEFAULT_RESULTS, findDocuments, findMemories } from './retrieve.ts'
import type { Found, RetrievalOptions } from './retrieve.ts'
import { searchedFor } from './follow-up.ts'
import { roomForContext, roomForPassages } from './compact/room.ts'

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

/** @throws CriaError `store_failed` if a store fails. */
export async function* prepare(
  { input, request, model, conversation, step, room: { compaction, state, tooLarge } }: PrepareState,
  ctx: CompactContext,
): Station<Prepared> {
  const whole = conversation ?? (yield* begin(input, request, model.facts, ctx))
  const asked = new Set(input.messages.map(({ id }) => id))
  const { settings } = request
  const demand = { settings, fixed: offeredTokens(request), model, step, asked, compaction, state, tooLarge }
  const room = yield* makeRoom(whole, demand, ctx)
  return { ...room, request: buildRequest(model.ref, room.conversation, request) }
}

/** Builds the conversation of the first step: retrieved passages, injected context and messages. */
async function* begin(input: TurnInput, request: RequestOptions, facts: ModelFacts, ctx: CompactContext): Station<Conversation> {
  const { history, since = [], written = new Set(), added = [], retrieve = {}, context } = input
  const { sources = [], reads = [] } = context ?? {}
  const around = yield* inject({ sources, reads, room: roomForContext(input, request, facts) }, ctx)
  const injection = added.length === 0 ? around : { ...around, after: [...around.after, ...added] }
  const composition = yield* composed(input, retrieve, injection, request, facts, ctx)

  const before = since.length === 0 ? history : [...history, ...since]
  const known: ReadonlySet<string> = new Set([...history.map(({ id }) => id), ...written])
  const unwritten = [...composition.messages, ...since].filter(({ id }) => !known.has(id))
  yield { type: 'note', entry: { type: 'messages', step: 0, messages: unwritten } }
  yield* interruptionNotice(before)
  const { messages: whole, repairs } = repairHistory([...composition.processedMessages, ...since])
  yield* repairNotice(repairs)
  if (whole.every(({ role }) => role === 'system' || role === 'developer')) {
    throw new ConfigurationError('There is no message to answer: tool results must follow the calls that they answer.')
  }
  const conversation = conversationOf(whole, composition.grounding, new Set(before.map(({ id }) => id)))
  return 'dropped' in composition ? { ...conversation, dropped: composition.dropped } : conversation
}

/** Searches the stores and composes the request with the results; sets the counts on the span of the turn. */
async function* composed(
  { system, history, messages }: TurnInput,
  { docstore, memory, nResults = DEFAULT_RESULTS, filter, rerank, widen = false, followUps = 'words' }: RetrievalOptions,
  injection: Injection,
  request: RequestOptions,
  facts: ModelFacts,
  ctx: CompactContext,
): Station<Composition | RagComposition> {
  const { span, signal, clock } = ctx
  if (docstore === undefined) {
    const search = { query: questionOf(messages), nResults, span, signal }
    const memories = memory && (await findMemories(memory, search))
    yield* retrievalEvents(search.query, [memories])
    return composeChat({ system, history, memories, injection, input: messages })
  }
  const query = yield* searchedFor(messages, history, followUps, ctx)
  const search = { query, nResults, span, signal }
  const documents = await findDocuments(docstore, search, { filter, rerank, clock })
  const remembered = memory && (await findMemories(memory, search))
  // Of a conversation only messages with text can be passages.
  const memories = remembered && { ...remembered, chunks: remembered.chunks.filter(({ text }) => text.trim() !== '') }
  yield* retrievalEvents(query, [documents, memories])
  const question = messages.at(-1)
  if (question === undefined) throw new TypeError('A retrieval turn needs a message that asks something.')

  const passageTokens = roomForPassages({ system, history, messages }, request, facts, injection.tokens)
  let chosen = choosePassages({ documents, memories, passageTokens })
  // A model that only quotes takes sentences from the passages; text around them would distract it.
  if (widen !== false && facts.writes !== false && docstore.around !== undefined) {
    const { widenPassages } = await import('./passages/widen.ts')
    const options = { ...(widen === true ? {} : widen), room: chosen.left, signal }
    const { passages, left } = await widenPassages(chosen.documents, docstore, options)
    chosen = { ...chosen, documents: passages, left }
  }
  const spoken = { system, history: [...history, ...messages.slice(0, -1)], question, injection }
  const asked = query === questionOf(messages) ? undefined : query
  const composition = composeRag({ ...spoken, searchedFor: asked, documents, memories, passageTokens }, chosen)
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
  return composition
}

/** Yields the results of each store, and notices about problems of the search. */
function* retrievalEvents(query: string, stores: readonly (Found | undefined)[]): Generator<EventBody, void, undefined> {
  const found = stores.filter((each) => each !== undefined)
  for (const { store, chunks } of found) {
    const references = chunks.map(({ id, source, start, end, score }) => ({ id, source, start, end, score }))
    yield { type: 'retrieval', store, query, chunks: references }
  }
  for (const { notice } of found) if (notice !== undefined) yield { type: 'notice', ...notice }
  const corrections = Object.values(found[0]?.chunks[0]?.evidence?.corrections ?? {})
  if (corrections.length > 0) yield { type: 'notice', code: 'searched_for', message: `searched for: ${corrections.join(', ')}` }
}

type Notice = Extract<EventBody, { type: 'notice' }>

const WORDS: Readonly<Record<Defect, string>> = {
  missing_result: 'tool calls without a result were given one that says so',
  orphan_result: 'results without a call were dropped',
  repeated_result: 'second results of one call were dropped',
  moved_result: 'results were moved after their calls',
  misnamed_result: 'results were given the name of the tool that was called',
  repeated_call_id: 'ids of calls that were empty or taken were changed',
  repeated_thinking: 'thinking that came twice was dropped',
  misplaced_part: 'parts that their role cannot hold were dropped',
  empty_part: 'empty texts were dropped',
  empty_message: 'messages without content were dropped',
}

/** Maximum number of repairs listed in the notice. */
const MAX_SHOWN = 20

/** Yields one notice for all repairs, if there were any. */
function* repairNotice(repairs: readonly Repair[]): Generator<Notice, void, undefined> {
  if (repairs.length === 0) return
  const counts = [...Map.groupBy(repairs, ({ defect }) => defect)].map(([defect, all]) => `${WORDS[defect]} (${all.length})`)
  yield {
    type: 'notice',
    code: 'history_repaired',
    message: `The conversation so far was not one that providers accept, and is sent repaired: ${counts.join('; ')}.`,
    details: {
      count: repairs.length,
      repairs: repairs
        .slice(0, MAX_SHOWN)
        .map(({ defect, message, id }) => ({ defect, message, ...(id === undefined ? {} : { id }) })),
    },
  }
}

/** Yields a notice if the session was interrupted while tools ran, until the next answer. */
function* interruptionNotice(history: readonly Message[]): Generator<Notice, void, undefined> {
  const answered = history.findLastIndex(({ role }) => role !== 'tool')
  const open = history
    .slice(answered + 1)
    .flatMap(({ parts }) => parts)
    .filter((part) => part.type === 'tool-result' && part.unknownEffects !== undefined)
    .flatMap((part) => (part.type === 'tool-result' ? [{ id: part.id, name: part.name }] : []))
  if (open.length === 0) return
  const names = [...new Set(open.map(({ name }) => JSON.stringify(name)))].join(', ')
  yield {
    type: 'notice',
    code: 'effects_unknown',
    message:
      `This session was interrupted while a tool was running: ${names}. ` +
      'Whether it had its effects is unknown. It is not run again by itself; the model is informed.',
    details: { calls: open },
  }
}
