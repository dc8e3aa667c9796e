/** Folds the events of a turn into its metrics, and into the tool calls that have no result yet. */

import type { Note, Yielded } from '../core/context.ts'
import type { QueryEvent } from '../core/event.ts'
import type { TurnMetrics } from '../core/recorder.ts'
import type { ToolResult } from '../core/tool.ts'
import { elapsed } from '../util/clock.ts'

export class Metrics {
  #firstTokenAt: number | undefined
  /** `#waitedMs` at the first token. */
  #waitedBefore = 0
  #toolsExecuted = 0
  #errors = 0
  #retries = 0
  /** Time spent waiting for permission, and the start of the current wait. */
  #waitedMs = 0
  #askedAt: number | undefined
  /** Sums over steps whose provider reports cached tokens. */
  #inputTokens = 0
  #cacheReadTokens = 0

  observe(event: QueryEvent): void {
    switch (event.type) {
      case 'text_delta':
      case 'thinking':
        if (this.#firstTokenAt === undefined) this.#waitedBefore = this.#waitedMs
        this.#firstTokenAt ??= event.at
        break
      case 'retry':
        this.#retries++
        this.#errors++
        break
      case 'model_switch':
        // Before the first step the failure belongs to an earlier turn; a request that is too large is not a failure.
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

  /** Counts started tools; refused or invalid calls are never started. */
  note({ entry }: Note): void {
    if (entry.type === 'tool_start') this.#toolsExecuted++
  }

  summary(startedAt: number, endedAt: number, steps: number, cacheHit: boolean, slowAfter: number): TurnMetrics {
    const waiting = this.#askedAt === undefined ? 0 : elapsed(this.#askedAt, endedAt)
    const durationMs = Math.max(0, elapsed(startedAt, endedAt) - this.#waitedMs - waiting)
    return {
      timeToFirstTokenMs:
        this.#firstTokenAt === undefined ? null : Math.max(0, elapsed(startedAt, this.#firstTokenAt) - this.#waitedBefore),
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

export class OpenCalls {
  /** Calls without a result; with their idempotency key once started. */
  readonly #calls = new Map<string, { readonly name: string; readonly key?: string }>()

  observe(body: Yielded): void {
    if (body.type === 'tool_request') this.#calls.set(body.tool.id, { name: body.tool.name })
    else if (body.type === 'tool_result') this.#calls.delete(body.result.id)
    else if (body.type === 'note' && body.entry.type === 'tool_start')
      this.#calls.set(body.entry.callId, { name: body.entry.name, key: body.entry.idempotencyKey })
  }

  /** `true`: tools are running. */
  get running(): boolean {
    return [...this.#calls.values()].some(({ key }) => key !== undefined)
  }

  /** Returns a result for each call without one, which says whether it may have had effects. */
  unanswered(): ToolResult[] {
    return [...this.#calls].map(([id, { name, key }]) => ({
      id,
      name,
      content: key === undefined ? 'Not run: the turn ended before.' : 'Interrupted while it ran: its effects are unknown.',
      isError: true,
      durationMs: 0,
      ...(key === undefined ? {} : { unknownEffects: { idempotencyKey: key } }),
    }))
  }
}
