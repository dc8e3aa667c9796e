/** Spans: what took how long, inside what. The names of attributes are OpenTelemetry's for generative AI. */

import type { JsonObject } from './json.ts'

/** A piece of work with a beginning and an end, for traces. */
export interface Span {
  /** The trace, 32 hexadecimal digits. */
  readonly traceId: string
  /** The span, 16 hexadecimal digits. */
  readonly spanId: string
  /** Starts a span inside this one. */
  child(name: string, attributes?: JsonObject): Span
  /** Adds attributes; later ones replace earlier ones of the same name. */
  set(attributes: JsonObject): void
  /** Adds a moment within the span. */
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
  /** The span around this one; `null` for the outermost. */
  readonly parentSpanId: string | null
  /** The name of the work. */
  readonly name: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** Facts of the work, by name. */
  readonly attributes: JsonObject
  /** Moments within the span; `at` in epoch milliseconds. */
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes?: JsonObject }[]
  /** How the work ended. */
  readonly status: 'ok' | 'error'
  /** The message of the error, where there was one. */
  readonly error?: string
  /** The turn that the work belongs to. */
  readonly turnId?: string
}

/** Shows spans to somebody else's tracing, from their beginning to their end. */
export interface SpanMirror {
  /** @param parent the one around it; absent: the outermost of ours. */
  start(
    name: string,
    begin: { readonly startedAt: number; readonly attributes: JsonObject; readonly parent: MirroredSpan | undefined },
  ): MirroredSpan
}

/** A span of ours in the tracing of the application. */
export interface MirroredSpan {
  /** Runs `work` with this span as the current one of that tracing. */
  run<T>(work: () => T): T
  /** Ends it with everything that was recorded. */
  end(record: SpanRecord): void
}

/** Does `work` inside a child span that ends with it and fails with it. */
export async function inSpan<T>(
  parent: Span,
  name: string,
  attributes: JsonObject,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = parent.child(name, attributes)
  try {
    return await span.run(() => work(span))
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    span.end()
  }
}

/**
 * Iterates `source` with the span current around each `next()`; generators that are not ours would lose it otherwise.
 * @param read gives each value its type, or throws what is wrong with it.
 */
export async function* iterateIn<T>(
  span: Span,
  source: AsyncIterable<unknown>,
  read: (value: unknown) => T,
): AsyncGenerator<T, void, undefined> {
  const iterator = span.run(() => source[Symbol.asyncIterator]())
  let finished = false
  try {
    for (;;) {
      const result = await span.run(() => iterator.next())
      if (result.done === true) {
        finished = true
        return
      }
      yield read(result.value)
    }
  } finally {
    if (!finished) await iterator.return?.()
  }
}
