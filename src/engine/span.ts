/**
 * A light span recorder. `ctx.span` determines the nesting; the async context only carries the current span
 * into other code (providers, tools, stores) and from a caller's span into `query()`.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { toCriaError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Recorder } from '../core/recorder.ts'
import type { MirroredSpan, Span, SpanMirror, SpanRecord } from '../core/span.ts'
import { redact } from '../util/redact.ts'
import { defined } from '../util/check.ts'

const current = new AsyncLocalStorage<Span>()

/** Returns the current span of the async context, if any. */
export function currentSpan(): Span | undefined {
  return current.getStore()
}

export interface SpanOptions {
  readonly parent?: Span | undefined
  readonly attributes?: JsonObject
  readonly clock: Pick<Clock, 'now'>
  /** Receives each span when it ends. */
  readonly sink: (record: SpanRecord) => void
  readonly turnId?: string
  /** Mirror of the spans in other tracing; default none. */
  readonly mirror?: SpanMirror | undefined
}

const mirroredSpans = new WeakMap<Span, MirroredSpan>()

export function startSpan(name: string, options: SpanOptions): Span {
  const { clock, sink, turnId, mirror, parent } = options
  const traceId = options.parent?.traceId ?? randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  const startedAt = clock.now()
  const events: SpanRecord['events'][number][] = []
  let attributes: JsonObject = options.attributes ?? {}
  let error: string | undefined
  let ended = false
  const shown = mirror?.start(name, { startedAt, attributes, parent: parent && mirroredSpans.get(parent) })

  const span: Span = {
    traceId,
    spanId,
    child: (childName, childAttributes) => startSpan(childName, { ...options, parent: span, attributes: childAttributes ?? {} }),
    set: (more) => {
      attributes = { ...attributes, ...more }
    },
    event: (eventName, eventAttributes) => {
      events.push({ name: eventName, at: clock.now(), ...(eventAttributes === undefined ? {} : { attributes: eventAttributes }) })
    },
    fail: (thrown) => {
      const failure = toCriaError(thrown)
      // Error messages of third-party tools and models may hold secrets.
      error = redact(failure.message)
      attributes = { ...attributes, 'error.type': failure.code }
    },
    end: () => {
      if (ended) return
      ended = true
      const record: SpanRecord = {
        traceId,
        spanId,
        parentSpanId: options.parent?.spanId ?? null,
        name,
        startedAt,
        // Never before its start, even if the clock was set back.
        endedAt: Math.max(startedAt, clock.now()),
        attributes,
        events,
        status: error === undefined ? 'ok' : 'error',
        ...defined({ error, turnId }),
      }
      shown?.end(record)
      sink(record)
    },
    run: (work) => current.run(span, shown === undefined ? work : () => shown.run(work)),
  }
  if (shown !== undefined) mirroredSpans.set(span, shown)
  return span
}

/** Passes spans to a recorder. A span that cannot be stored does not end the turn. */
export function spanSink(recorder: Recorder | undefined): (record: SpanRecord) => void {
  if (recorder === undefined) return () => {}
  return (record) => {
    try {
      Promise.resolve(recorder.span(record)).catch(() => {})
    } catch {
      // The turn's own rows report a journal that fails.
    }
  }
}
