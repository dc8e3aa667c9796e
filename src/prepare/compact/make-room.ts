/** Checks whether the next request fits the model's context window, and compacts the conversation if not. */

import type { Station } from '../../core/context.ts'
import type { Message } from '../../core/message.ts'
import type { CallSettings, ModelFacts } from '../../core/model.ts'
import { toRequestMessage } from '../conversation.ts'
import type { Conversation } from '../conversation.ts'
import { countMessageTokens, loadTokenCounter } from '../tokens.ts'
import { countedSize, estimatedSize, startedAnew, withCounts, withEstimates } from '../tally.ts'
import type { Correction } from '../tally.ts'
import { compact } from './compact.ts'
import type { CompactContext, Compacted } from './compact.ts'
import type { Goal } from './plan.ts'
import { DEFAULT_COMPACTION, outputReserve } from './room.ts'
import type { CompactionOptions } from './room.ts'

/** The facts of the next request that determine its size. */
export interface Demand {
  readonly settings: Pick<CallSettings, 'maxOutputTokens'>
  /** Tokens beside the messages: tools and schema. */
  readonly fixed: number
  readonly model: { readonly ref: string; readonly facts: ModelFacts }
  readonly step: number
  /** Ids of the user's current messages. */
  readonly asked: ReadonlySet<string>
  /** `false`: never compacts. */
  readonly compaction: CompactionOptions | false
  /** `refused`: the provider rejected it as too large, whatever the count. `tried`: already compacted in this step. */
  readonly state: 'new' | 'refused' | 'tried'
  /** Size at which the model has refused requests before. */
  readonly tooLarge: number | undefined
}

export interface Room {
  readonly conversation: Conversation
  /** Tokens of the request, without room for the answer. */
  readonly size: number
  /** Tokens of input and output together; `null`: unknown. */
  readonly window: number | null
  readonly compacted: boolean
}

/** Error factor of the estimate: a request that could be too large within it is counted exactly. */
const DOUBT = 2
/** Shares of the refused size to try next. */
const AFTER_REFUSAL = { target: 0.5, limit: 0.75 } as const

export async function* makeRoom(given: Conversation, demand: Demand, ctx: CompactContext): Station<Room> {
  const { model, fixed, state, compaction } = demand
  const limits = limitsOf(demand)
  const { window, limit } = limits

  const conversation = { ...given, tally: withEstimates(given.tally, given.messages) }
  const guess = estimatedSize(conversation.tally, model.ref, fixed)
  const unchanged = { conversation, size: guess.known + guess.guessed, window, compacted: false }
  if (state !== 'refused' && guess.known + DOUBT * guess.guessed <= limit) return unchanged

  const count = await loadTokenCounter()
  const tally = withCounts(conversation.tally, conversation.messages, count, fixed)
  const size = countedSize(tally, model.ref, fixed)
  const counted = { ...unchanged, conversation: { ...conversation, tally }, size }
  if (compaction === false || state === 'tried' || (state === 'new' && size <= limit)) return counted

  const tokensOf = (message: Message): number => countMessageTokens(message, count)
  const goal = goalOf(limits, size, demand, tally.correction)
  const smaller = yield* compact({ messages: conversation.said, turn: conversation.turn }, goal, tokensOf, ctx)
  if (smaller === undefined) return counted

  const said = smaller.messages
  const messages = said.map(toRequestMessage)
  const anew = withCounts(withEstimates(startedAnew(tally), messages), messages, count, fixed)
  const after = { ...conversation, said, messages, tally: anew }
  const sizeAfter = countedSize(anew, model.ref, fixed)
  yield* reportCompaction(smaller, after, { before: size, after: sizeAfter }, demand)
  return { conversation: after, size: sizeAfter, window, compacted: true }
}

/** Limits in the provider's tokens. */
interface Limits {
  /** `null`: unknown. */
  readonly window: number | null
  /** Compaction starts above this size. */
  readonly limit: number
  /** A larger request leaves no room for the answer. */
  readonly most: number
  /** Target size of compaction. */
  readonly aim: number
  readonly keepTurns: number
}

function limitsOf({ compaction, model, tooLarge, settings }: Demand): Limits {
  const options: CompactionOptions = compaction === false ? {} : compaction
  const { at = DEFAULT_COMPACTION.at, to = DEFAULT_COMPACTION.to, keepTurns = DEFAULT_COMPACTION.keepTurns } = options
  const window = options.window ?? model.facts.contextWindow ?? null
  const bound = Math.min(window ?? Infinity, tooLarge ?? Infinity)
  const reserve = bound === Infinity ? 0 : outputReserve(settings, model.facts, bound)
  const limit = bound * at - reserve
  return { window, limit, most: bound - reserve, aim: Math.min(bound * to, (limit * to) / at), keepTurns }
}

/** Converts the limits to estimated tokens of the messages alone. A refused request must become clearly smaller, whatever the window. */
function goalOf(
  { limit, most, aim, keepTurns }: Limits,
  size: number,
  { state, fixed }: Demand,
  { overhead, scale }: Correction,
): Goal {
  const refused = state === 'refused' ? AFTER_REFUSAL : { target: Infinity, limit: Infinity }
  const ours = (tokens: number): number => (tokens - overhead) / scale - fixed
  const limited = (tokens: number): number => ours(Math.min(tokens, size * refused.limit))
  return { target: ours(Math.min(aim, size * refused.target)), limit: limited(limit), most: limited(most), keepTurns }
}

/** Records the messages with which the session continues, and yields the `compaction` event. */
async function* reportCompaction(
  { summary, strategy }: Compacted,
  { said, turn }: Conversation,
  tokens: { readonly before: number; readonly after: number },
  { step, asked }: Demand,
): Station<void> {
  // Instructions and retrieved text belong to their turn, the conversation to the session.
  const messages = said.filter(
    ({ id, role, retrieved }) =>
      (role === 'user' || role === 'assistant' || role === 'tool') && retrieved === undefined && (!turn.has(id) || asked.has(id)),
  )
  if (summary !== undefined) yield { type: 'note', entry: { type: 'messages', step, messages: [summary] } }
  yield { type: 'note', entry: { type: 'compaction', step, messages } }
  yield { type: 'compaction', tokensBefore: tokens.before, tokensAfter: tokens.after, strategy }
}
