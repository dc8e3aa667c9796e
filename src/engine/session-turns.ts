/** Compacts a session on request, and forks one. Neither calls for an answer, but both are recorded as turns. */

import type { Station } from '../core/context.ts'
import { ConfigurationError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { Recorder } from '../core/recorder.ts'
import { compact } from '../prepare/compact/compact.ts'
import { countMessageTokens, loadTokenCounter } from '../prepare/tokens.ts'
import { completeAside } from './completion.ts'
import type { EngineOptions } from './options.ts'
import { resultOf } from './finish.ts'
import { currentSpan } from './span.ts'
import { runTurn } from './turn-reader.ts'
import type { TurnEvents } from './turn-reader.ts'
import { beginTurn, startOf } from './turn.ts'
import type { Turn } from './turn.ts'

export interface SessionTurnOptions extends Pick<
  EngineOptions,
  'model' | 'abortSignal' | 'bot' | 'budget' | 'onQueryCompleted' | 'userId' | 'tags'
> {
  readonly recorder: Recorder
  /** The session to compact or fork. */
  readonly sessionId: string
  /** Recorded in place of a question. */
  readonly title: string
  /** The model that writes the summary; default `model`. */
  readonly summaryModel?: EngineOptions['model'] | undefined
}

/** Shares of the current size: the target of compaction, and the size that is accepted. */
const AIM = { target: 0.3, limit: 0.6, keepTurns: 1 } as const

/**
 * Compacts the conversation of a session now: older messages are summarised, the last turn is kept. Yields a `compaction` event with the
 * new size, or the notice `nothing_to_compact`.
 */
export function compactSession(options: SessionTurnOptions): TurnEvents {
  return run(options, options, compacted)
}

/**
 * Creates a session that starts with the conversation of another; the events carry the new id. The original is unchanged, and both belong
 * to the same user.
 */
export async function* forkSession(options: SessionTurnOptions): TurnEvents {
  const { sessionId, ...rest } = options
  const { turns } = await options.recorder.read.turns({ sessionId, limit: 1 })
  const userId = options.userId ?? turns[0]?.userId ?? undefined
  return yield* run(options, { ...rest, ...(userId === undefined ? {} : { userId }) }, copied)
}

function run(
  options: SessionTurnOptions,
  engineOptions: Omit<SessionTurnOptions, 'sessionId'>,
  work: (history: readonly Message[], turn: Turn, options: SessionTurnOptions) => Station<void>,
): TurnEvents {
  const { title, summaryModel: _, ...known } = engineOptions
  const parent = currentSpan()
  return runTurn(
    () => beginTurn({ ...known, prompt: title }, parent),
    async function* stations(turn) {
      yield startOf(turn)
      const history = await options.recorder.read.history(options.sessionId)
      if (history.length === 0) throw new ConfigurationError('This session has no messages yet: ask something first.')
      yield* work(history, turn, options)
      yield { type: 'complete', result: resultOf(turn, { text: '', finishReason: 'stop' }) }
    },
  )
}

async function* compacted(history: readonly Message[], turn: Turn, { model, summaryModel }: SessionTurnOptions): Station<void> {
  const count = await loadTokenCounter()
  const tokensOf = (message: Message): number => countMessageTokens(message, count)
  const sum = (all: readonly Message[]): number => all.reduce((tokens, message) => tokens + tokensOf(message), 0)
  const before = sum(history)
  const goal = { target: before * AIM.target, limit: before * AIM.limit, most: before, keepTurns: AIM.keepTurns }
  const complete = (): ReturnType<typeof completeAside> => completeAside([summaryModel, model], turn.ctx)
  const smaller = yield* compact({ messages: history, turn: new Set() }, goal, tokensOf, { ...turn.ctx, complete })
  if (smaller === undefined) {
    yield { type: 'notice', code: 'nothing_to_compact', message: 'This conversation holds nothing that could be compacted.' }
    return
  }
  const { summary, strategy } = smaller
  if (summary !== undefined) yield { type: 'note', entry: { type: 'messages', step: 0, messages: [summary] } }
  yield { type: 'note', entry: { type: 'compaction', step: 0, messages: smaller.messages } }
  yield { type: 'compaction', tokensBefore: before, tokensAfter: sum(smaller.messages), strategy }
}

async function* copied(history: readonly Message[]): Station<void> {
  yield { type: 'note', entry: { type: 'compaction', step: 0, messages: history } }
}
