/** Looks whether the next request fits the window of the model that is to answer it, and makes room where it does not. */

import type { Station } from '../../core/context.ts'
import type { Message } from '../../core/message.ts'
import type { ModelFacts } from '../../core/model.ts'
import type { CallSettings } from '../../core/model.ts'
import { toRequestMessage } from '../conversation.ts'
import type { Conversation } from '../conversation.ts'
import { loadTokenCounter } from '../count-tokens.ts'
import { countMessageTokens } from '../request-tokens.ts'
import { countedSize, estimatedSize, startedAnew, withCounts, withEstimates } from '../tally.ts'
import { compact } from './compact.ts'
import type { CompactContext, Compacted } from './compact.ts'
import type { Goal } from './plan.ts'
import { DEFAULT_COMPACTION, outputReserve } from './room.ts'
import type { CompactionOptions } from './room.ts'

/** The next request, as far as its size is concerned. */
export interface Demand {
  readonly settings: Pick<CallSettings, 'maxOutputTokens'>
  /** Tokens of what stands beside the messages: tools, schema. */
  readonly fixed: number
  readonly model: { readonly ref: string; readonly facts: ModelFacts }
  readonly step: number
  /** Ids of what the user says now. */
  readonly asked: ReadonlySet<string>
  /** `false`: nothing is ever compacted. */
  readonly compaction: CompactionOptions | false
  /** `refused`: the provider has said that it is too large, whatever we count. `tried`: room was made in this step; it is not made twice. */
  readonly state: 'new' | 'refused' | 'tried'
  /** Requests of this size have been refused before. */
  readonly tooLarge: number | undefined
}

export interface Room {
  readonly conversation: Conversation
  /** Tokens of the request, the room for its answer not among them. */
  readonly size: number
  /** Tokens of input and output together; `null` when nobody knows. */
  readonly window: number | null
  readonly compacted: boolean
}

/** A guess may be wrong by half: what could then be too large is counted. */
const DOUBT = 2
/** Of the size that was refused, what is tried next. */
const AFTER_REFUSAL = { target: 0.5, limit: 0.75 } as const

export async function* makeRoom(given: Conversation, demand: Demand, ctx: CompactContext): Station<Room> {
  const { model, fixed, state, compaction } = demand
  const {
    at,
    to,
    keepTurns,
    window: told,
  } = { ...DEFAULT_COMPACTION, window: undefined, ...(compaction === false ? undefined : compaction) }
  const window = told ?? model.facts.contextWindow ?? null
  const bound = Math.min(window ?? Infinity, demand.tooLarge ?? Infinity)
  const limit = bound === Infinity ? Infinity : bound * at - outputReserve(demand.settings, model.facts, bound)

  const conversation = { ...given, tally: withEstimates(given.tally, given.messages) }
  const guess = estimatedSize(conversation.tally, model.ref, fixed)
  const unchanged = { conversation, size: guess.known + guess.guessed, window, compacted: false }
  if (state !== 'refused' && guess.known + DOUBT * guess.guessed <= limit) return unchanged

  const count = await loadTokenCounter()
  const tally = withCounts(conversation.tally, conversation.messages, count, fixed)
  const counted = { ...unchanged, conversation: { ...conversation, tally }, size: countedSize(tally, model.ref, fixed) }
  const { size } = counted
  if (compaction === false || state === 'tried' || (state === 'new' && size <= limit)) return counted

  const { overhead, scale } = tally.correction
  const ours = (tokens: number): number => (tokens - overhead) / scale - fixed
  const aim = Math.min(bound * to, (limit * to) / at)
  const goal: Goal =
    state === 'new'
      ? { target: ours(aim), limit: ours(limit), keepTurns }
      : {
          target: ours(Math.min(aim, size * AFTER_REFUSAL.target)),
          limit: ours(Math.min(limit, size * AFTER_REFUSAL.limit)),
          keepTurns,
        }
  const tokensOf = (message: Message): number => countMessageTokens(message, count)
  const smaller = yield* compact({ messages: conversation.said, turn: conversation.turn }, goal, tokensOf, ctx)
  if (smaller === undefined) return counted

  const said = smaller.messages
  const messages = said.map(toRequestMessage)
  const anew = withCounts(withEstimates(startedAnew(tally), messages), messages, count, fixed)
  const after = { ...conversation, said, messages, tally: anew }
  const sizeAfter = countedSize(anew, model.ref, fixed)
  yield* tell(smaller, after, { before: size, after: sizeAfter }, demand)
  return { conversation: after, size: sizeAfter, window, compacted: true }
}

/** Writes down where the session goes on from, and shows what was done. */
async function* tell(
  { summary, strategy }: Compacted,
  { said, turn }: Conversation,
  tokens: { readonly before: number; readonly after: number },
  { step, asked }: Demand,
): Station<void> {
  // Instructions and what was looked up belong to their turn; what was said belongs to the session.
  const messages = said.filter(
    ({ id, role, retrieved }) =>
      (role === 'user' || role === 'assistant' || role === 'tool') && retrieved === undefined && (!turn.has(id) || asked.has(id)),
  )
  if (summary !== undefined) yield { type: 'note', entry: { type: 'messages', step, messages: [summary] } }
  yield { type: 'note', entry: { type: 'compaction', step, messages } }
  yield { type: 'compaction', tokensBefore: tokens.before, tokensAfter: tokens.after, strategy }
}
