/** Ends a turn with exactly one terminal event, and reports it to the journal and `onQueryCompleted`. */

import type { Station } from '../core/context.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import type { EventStamp, TerminalEvent } from '../core/event.ts'
import type { TurnClose, TurnMetrics } from '../core/recorder.ts'
import { currentModel } from '../model/chain.ts'
import { errorInfo } from '../model/error-info.ts'
import { ignoreRejection } from '../util/promise.ts'
import { timeExceeded } from './budget/plan.ts'
import type { Metrics } from './tallies.ts'
import { steeredTooLate } from './interventions.ts'
import { DEFAULT_SLOW_AFTER, temperatureOf } from './turn.ts'
import type { Turn } from './turn.ts'

export { abortReasonOf, causeOf } from '../model/error-info.ts'

/** @param work yields the terminal event itself if it succeeds. */
export async function* toTheEnd(turn: Turn, work: Station<unknown>): Station<void> {
  const { ctx, options } = turn
  const stopTimer = limitTime(turn)
  try {
    yield* work
  } catch (thrown) {
    const error = toCriaError(thrown)
    turn.span.fail(error)
    yield* steeredTooLate(turn)
    if (ctx.signal.aborted && (options.abortSignal?.aborted === true || error.code === 'aborted')) {
      yield { type: 'cancelled', reason: reasonOf(options.abortSignal?.reason) }
    } else {
      yield { type: 'error', error: errorInfo(error) }
    }
  } finally {
    stopTimer()
  }
}

function limitTime(turn: Turn): () => void {
  const { timeouts, budget } = turn.options
  const over = new AbortController()
  const endAfter = (limit: number | null | undefined, reason: (limit: number) => CriaError): void => {
    if (limit === null || limit === undefined) return
    turn.clock.sleep(limit, over.signal).then(
      () => turn.end(reason(limit)),
      () => {},
    )
  }
  endAfter(timeouts?.turn, (limit) => new CriaError('timeout', `The turn did not end within ${limit} ms.`))
  endAfter(budget?.ms, timeExceeded)
  return () => over.abort()
}

/** Returns the reason of an aborted signal as text. */
export function reasonOf(reason: unknown): string {
  if (reason instanceof Error && reason.message !== UNSAID) return reason.message
  return typeof reason === 'string' ? reason : 'Aborted by the caller.'
}

/** The message of an abort without a reason. */
const UNSAID = 'This operation was aborted'

export type LastEvent = TerminalEvent & EventStamp

/** Returns the record of the end for the journal. */
export function closeOf(turn: Turn, event: LastEvent, text: string, metrics: Metrics): TurnClose {
  const { chain, ledger } = turn
  return {
    state: stateOf(event),
    event,
    endedAt: event.at,
    model: currentModel(chain).ref,
    temperature: temperatureOf(turn.request, currentModel(chain)),
    text,
    usage: ledger.usage,
    costUsd: ledger.costUsd,
    finishReason: event.type === 'complete' ? event.result.finishReason : null,
    ...(event.type === 'error' ? { error: event.error } : {}),
    metrics: summaryOf(turn, event, event.at, metrics),
  }
}

/** Calls `onQueryCompleted`. A callback that throws changes nothing. */
export function report(turn: Turn, event: LastEvent | undefined, metrics: Metrics): void {
  const { options, turnId, sessionId, span, chain, ledger, startedAt, clock } = turn
  if (options.onQueryCompleted === undefined) return
  const endedAt = event?.at ?? clock.now()
  try {
    ignoreRejection(
      options.onQueryCompleted({
        type: 'query_completed',
        state: stateOf(event),
        ...(options.bot === undefined ? {} : { bot: options.bot }),
        ...summaryOf(turn, event, endedAt, metrics),
        turnId,
        sessionId,
        traceId: span.traceId,
        model: currentModel(chain).ref,
        usage: ledger.usage,
        costUsd: ledger.costUsd,
        startedAt,
        endedAt,
      }),
    )
  } catch {
    // An error in a callback of the caller must not change the outcome of the turn.
  }
}

/** Returns the state for a terminal event; without one the reader left. */
function stateOf(event: LastEvent | undefined): TurnClose['state'] {
  if (event === undefined) return 'cancelled'
  return event.type === 'complete' ? 'done' : event.type === 'cancelled' ? 'cancelled' : 'failed'
}

function summaryOf(turn: Turn, event: LastEvent | undefined, endedAt: number, metrics: Metrics): TurnMetrics {
  const { startedAt, step, options, ledger } = turn
  const cacheHit = event?.type === 'complete' && event.result.cacheHit
  const slowAfter = options.slowAfter ?? DEFAULT_SLOW_AFTER
  return { ...metrics.summary(startedAt, endedAt, step, cacheHit, slowAfter), models: ledger.models }
}
