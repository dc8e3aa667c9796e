/** Spans: timed, nested pieces of work for tracing, and the names of their attributes. */

import type { JsonObject } from './json.ts'

/** A piece of work with a start and an end, for traces. */
export interface Span {
  /** The trace, 32 hexadecimal digits. */
  readonly traceId: string
  /** The span, 16 hexadecimal digits. */
  readonly spanId: string
  /** Starts a span inside this one. */
  child(name: string, attributes?: JsonObject): Span
  /** Adds attributes; later ones replace earlier ones of the same name. */
  set(attributes: JsonObject): void
  /** Adds a timed event within the span. */
  event(name: string, attributes?: JsonObject): void
  /** Marks the span as failed; does not end it. */
  fail(error: unknown): void
  /** Ends the span and passes it to the recorder; a second call does nothing. */
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
  /** Events within the span; `at` in epoch milliseconds. */
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes?: JsonObject }[]
  /** How the work ended. */
  readonly status: 'ok' | 'error'
  /** The message of the error, if there was one. */
  readonly error?: string
  /** The turn that the work belongs to. */
  readonly turnId?: string
}

/** Mirrors spans in the application's own tracing, from start to end. */
export interface SpanMirror {
  /** Starts the mirrored span. @param parent the enclosing span; absent: the outermost. */
  start(
    name: string,
    begin: { readonly startedAt: number; readonly attributes: JsonObject; readonly parent: MirroredSpan | undefined },
  ): MirroredSpan
}

/** A span of this package in the application's tracing. */
export interface MirroredSpan {
  /** Runs `work` with this span as the current one of that tracing. */
  run<T>(work: () => T): T
  /** Ends the mirrored span with all recorded data. */
  end(record: SpanRecord): void
}

/** Runs `work` inside a child span, which ends and fails with it. */
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
 * Iterates `source` with the span as current one during each `next()`; other generators would lose it otherwise.
 * @param read converts each value to its type, or throws.
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

/**
 * Names of span attributes. Those that begin with `gen_ai` are OpenTelemetry's conventions for generative AI
 * (open-telemetry/semantic-conventions-genai, docs/registry/attributes/gen-ai.md); the rest are ours.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  model: 'gen_ai.request.model',
  temperature: 'gen_ai.request.temperature',
  stream: 'gen_ai.request.stream',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  dataSource: 'gen_ai.data_source.id',
  retrievalQuery: 'gen_ai.retrieval.query.text',
  query: 'cria.query',
  nResults: 'cria.retrieval.n_results',
  /** Number of chunks that the document store returned, and of those that were sent. */
  documentsRetrieved: 'cria.retrieval.documents.retrieved',
  documentsSent: 'cria.retrieval.documents.sent',
  memoriesRetrieved: 'cria.retrieval.memories.retrieved',
  memoriesSent: 'cria.retrieval.memories.sent',
  /** Chunks left out because they did not fit the model's context window. */
  dropped: 'cria.retrieval.dropped',
  /** Chunks merged into a better-ranked chunk with the same text. */
  merged: 'cria.retrieval.merged',
  /** Chunks sent to the reranking model. */
  candidates: 'cria.retrieval.candidates',
  filter: 'cria.retrieval.filter',
  attempt: 'cria.attempt',
} as const
