/** Makes the record of how a turn ended, for the journal and for metrics. */

import type { EventStamp, TerminalEvent } from '../core/event.ts'
import type { TurnClose, TurnMetrics } from '../core/recorder.ts'
import { currentModel } from '../model/chain.ts'
import { unheard } from '../util/promise.ts'
import type { Metrics } from './metrics.ts'
import { DEFAULT_SLOW_AFTER, temperatureOf } from './turn.ts'
import type { Turn } from './turn.ts'

export type LastEvent = TerminalEvent & EventStamp

/** What the journal is told. */
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

/** Tells `onQueryCompleted`. A callback that throws harms nothing. */
export function report(turn: Turn, event: LastEvent | undefined, metrics: Metrics): void {
  const { options, turnId, sessionId, span, chain, ledger, startedAt, clock } = turn
  if (options.onQueryCompleted === undefined) return
  const endedAt = event?.at ?? clock.now()
  try {
    unheard(
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
    // Its own affair.
  }
}

/** A turn without a terminal event was left by its reader. */
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
