/** Station 1: makes the request of a step out of what the turn knows. */

import type { Station } from '../core/context.ts'
import type { ModelFacts, ModelRequest } from '../core/model.ts'
import type { CompactContext } from './compact/compact.ts'
import { makeRoom } from './compact/make-room.ts'
import type { Demand, Room } from './compact/make-room.ts'
import { composeChatTurn, composeRagTurn } from './compose-turn.ts'
import { conversationOf } from './conversation.ts'
import type { Conversation } from './conversation.ts'
import { interruptionNotice, repairNotice } from './history-notices.ts'
import { inject } from './inject.ts'
import { repairHistory } from './repair.ts'
import { offeredTokens } from './request-tokens.ts'
import { buildRequest } from './request.ts'
import type { RequestOptions } from './request.ts'
import { DEFAULT_RESULTS, references } from './retrieve.ts'
import { searchedFor } from './searched-for.ts'
import { questionOf } from './turn-input.ts'
import type { TurnInput } from './turn-input.ts'
import { roomForContext, roomForPassages } from './window-shares.ts'

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
