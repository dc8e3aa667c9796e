/** Folds the events and notes of a turn into its metrics. */

import type { Note } from '../core/context.ts'
import type { QueryEvent } from '../core/event.ts'
import type { TurnMetrics } from '../core/recorder.ts'
import { elapsed } from '../util/clock.ts'

export class Metrics {
  #firstTokenAt: number | undefined
  #toolsExecuted = 0
  #errors = 0
  #retries = 0
  /** Waiting for permission, and since when. */
  #waitedMs = 0
  #askedAt: number | undefined
  /** Of the steps whose provider says what it read from its cache. */
  #inputTokens = 0
  #cacheReadTokens = 0

  observe(event: QueryEvent): void {
    switch (event.type) {
      case 'text_delta':
      case 'thinking':
        this.#firstTokenAt ??= event.at
        break
      case 'retry':
        this.#retries++
        this.#errors++
        break
      case 'model_switch':
        // Before the first step the failure is one of an earlier turn; a request that is too large is no failure.
        if (event.step > 0 && event.error !== undefined && event.reason !== 'context_too_large') this.#errors++
        break
      case 'error':
        this.#errors++
        break
      case 'permission_request':
        this.#askedAt = event.at
        break
      case 'permission_decision':
        if (this.#askedAt !== undefined) this.#waitedMs += elapsed(this.#askedAt, event.at)
        this.#askedAt = undefined
        break
      case 'usage': {
        const { inputTokens, cacheReadTokens } = event.usage
        if (inputTokens === null || cacheReadTokens === null) break
        this.#inputTokens += inputTokens
        this.#cacheReadTokens += cacheReadTokens
        break
      }
      default:
    }
  }

  /** A call that was refused, or does not fit its schema, is never started. */
  note({ entry }: Note): void {
    if (entry.type === 'tool_start') this.#toolsExecuted++
  }

  summary(startedAt: number, endedAt: number, steps: number, cacheHit: boolean, slowAfter: number): TurnMetrics {
    const waiting = this.#askedAt === undefined ? 0 : elapsed(this.#askedAt, endedAt)
    const durationMs = Math.max(0, elapsed(startedAt, endedAt) - this.#waitedMs - waiting)
    return {
      timeToFirstTokenMs: this.#firstTokenAt === undefined ? null : elapsed(startedAt, this.#firstTokenAt),
      durationMs,
      steps,
      toolsExecuted: this.#toolsExecuted,
      errors: this.#errors,
      retries: this.#retries,
      cacheHit,
      promptCacheHitRate: this.#inputTokens === 0 ? null : this.#cacheReadTokens / this.#inputTokens,
      slow: durationMs > slowAfter,
    }
  }
}
