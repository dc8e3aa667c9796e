/** Spans: what took how long, inside what. The names of attributes are OpenTelemetry's for generative AI. */

import type { JsonObject } from './json.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** Starts a span inside this one. */
  child(name: string, attributes?: JsonObject): Span
  set(attributes: JsonObject): void
  event(name: string, attributes?: JsonObject): void
  /** Marks the span as failed; it still has to be ended. */
  fail(error: unknown): void
  /** Ends the span and hands it to the recorder; a second time does nothing. */
  end(): void
  /** Runs `work` with this span as the current one of the async context. */
  run<T>(work: () => T): T
}

/** A span that has ended. */
export interface SpanRecord {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: JsonObject
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes?: JsonObject }[]
  readonly status: 'ok' | 'error'
  /** The message of the error, where there was one. */
  readonly error?: string
  readonly turnId?: string
}
