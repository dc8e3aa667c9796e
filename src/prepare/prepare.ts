/** Station 1: makes the request of a step out of what the turn knows. */

import type { Station } from '../core/context.ts'
import { ConfigurationError } from '../core/error.ts'
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
export async function* prepare(
  { input, request, model, conversation, step, room: { compaction, state, tooLarge } }: PrepareState,
  ctx: CompactContext,
): Station<Prepared> {
  const whole = conversation ?? (yield* compose(input, request, model.facts, ctx))
  const asked = new Set(input.messages.map(({ id }) => id))
  const { settings } = request
  const demand = { settings, fixed: offeredTokens(request), model, step, asked, compaction, state, tooLarge }
  const room = yield* makeRoom(whole, demand, ctx)
  return { ...room, request: buildRequest(model.ref, room.conversation, request) }
}

async function* compose(
  { system, history, messages, since = [], written = new Set(), added = [], retrieve, context }: TurnInput,
  request: RequestOptions,
  facts: ModelFacts,
  ctx: CompactContext,
): Station<Conversation> {
  const { docstore, memory, nResults = DEFAULT_RESULTS, filter, rerank, widen, followUps = 'words' } = retrieve ?? {}
  const { sources = [], reads = [] } = context ?? {}
  const said = { system, history, messages }
  const around = yield* inject({ sources, reads, room: roomForContext(said, request, facts) }, ctx)
  const injection = added.length === 0 ? around : { ...around, after: [...around.after, ...added] }
  const query = docstore === undefined ? questionOf(messages) : yield* searchedFor(messages, history, followUps, ctx)
  const { span, signal, clock } = ctx
  const chat = { ...said, injection, memory, query, nResults, span, signal }
  const { found, notices, composition } =
    docstore === undefined
      ? await composeChatTurn(chat)
      : await composeRagTurn({
          ...chat,
          docstore,
          filter,
          rerank,
          // What only quotes finds its sentences in the passages that were found; what stands around them distracts it.
          widen: facts.writes === false ? false : widen,
          clock,
          passageTokens: roomForPassages(said, request, facts, injection.tokens),
        })
  for (const each of found) yield { type: 'retrieval', store: each.store, query, chunks: references(each) }
  for (const notice of notices) yield { type: 'notice', ...notice }

  const before = since.length === 0 ? history : [...history, ...since]
  const known: ReadonlySet<string> = new Set([...history.map(({ id }) => id), ...written])
  const unwritten = [...composition.messages, ...since].filter(({ id }) => !known.has(id))
  yield { type: 'note', entry: { type: 'messages', step: 0, messages: unwritten } }
  yield* interruptionNotice(before)
  const { messages: whole, repairs } = repairHistory([...composition.processedMessages, ...since])
  yield* repairNotice(repairs)
  if (whole.every(({ role }) => role === 'system' || role === 'developer')) {
    throw new ConfigurationError('Nothing is left to be answered: results of tools need the calls that they answer before them.')
  }
  return conversationOf(whole, composition.grounding, new Set(before.map(({ id }) => id)))
}
