/** Sends spans to an OpenTelemetry collector over HTTP, in addition to the journal. A failing collector does not affect the answer. */

import type { Json, JsonObject } from '../../core/json.ts'
import type { Recorder } from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'

export interface OtlpOptions {
  /** Base URL of the collector; `/v1/traces` is added. */
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>>
  /** Value of `service.name`; default `cria`. */
  readonly serviceName?: string
  readonly fetch?: typeof fetch
}

/** Maximum number of spans in one request. */
const BATCH = 512
/** Milliseconds until spans of an unfinished trace are sent. */
const PATIENCE = 5000
const TIMEOUT = 10_000

export class OtlpExporter {
  readonly #options: OtlpOptions
  readonly #waiting: SpanRecord[] = []
  #sending: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #warned = false

  constructor(options: OtlpOptions) {
    this.#options = options
  }

  /** Queues a span; a trace is sent when its outermost span has ended. */
  add(span: SpanRecord): void {
    this.#waiting.push(span)
    if (span.parentSpanId === null || this.#waiting.length >= BATCH) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), PATIENCE).unref()
  }

  /** Resolves when all queued spans were sent or given up. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH)
      this.#sending = this.#sending.then(() => this.#send(batch))
    }
    return this.#sending
  }

  async #send(spans: readonly SpanRecord[]): Promise<void> {
    const { endpoint, headers, serviceName = 'cria', fetch: send = fetch } = this.#options
    try {
      const response = await send(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(encodeSpans(spans, serviceName)),
        signal: AbortSignal.timeout(TIMEOUT),
      })
      await response.body?.cancel()
      if (!response.ok) this.#warn(`it answered ${response.status}`)
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error))
    }
  }

  #warn(reason: string): void {
    if (this.#warned) return
    this.#warned = true
    process.emitWarning(`Spans could not be sent to ${this.#options.endpoint}: ${reason}.`, 'CriaTelemetryWarning')
  }
}

/** Wraps a recorder, an object whose members are its own, so that its spans are also sent to the collector; `close` flushes them first. */
export function exportSpans<R extends Recorder>(recorder: R, exporter: OtlpExporter): R {
  return {
    ...recorder,
    span: (span: SpanRecord) => {
      exporter.add(span)
      return recorder.span(span)
    },
    close: () => exporter.flush().then(() => recorder.close()),
  }
}

/** Parses `name=value,name=value`, percent-encoded, the format of OpenTelemetry's environment variables. */
export function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return name.trim() === '' ? [] : [[name.trim(), decoded(rest.join('=').trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** Builds the body of a request to `/v1/traces`. */
function encodeSpans(spans: readonly SpanRecord[], serviceName: string): JsonObject {
  return {
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', serviceName)] },
        scopeSpans: [{ scope: { name: 'cria' }, spans: spans.map(encodeSpan) }],
      },
    ],
  }
}

/** Protocol numbers for the kind of a span. */
const KIND = { internal: 1, client: 3 } as const
const STATUS = { ok: 1, error: 2 } as const

function encodeSpan(span: SpanRecord): JsonObject {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: span.name === 'llm_request' ? KIND.client : KIND.internal,
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributes(span.attributes),
    events: span.events.map(({ name, at, attributes: own = {} }) => {
      return { name, timeUnixNano: nanoseconds(at), attributes: attributes(own) }
    }),
    status: { code: STATUS[span.status], ...(span.error === undefined ? {} : { message: span.error }) },
  }
}

/** Returns a string, the OTLP JSON encoding of 64-bit numbers. */
function nanoseconds(milliseconds: number): string {
  return (BigInt(Math.round(milliseconds * 1000)) * 1000n).toString()
}

function attributes(all: JsonObject): JsonObject[] {
  // OpenTelemetry has no attributes without a value.
  return Object.entries(all).flatMap(([key, value]) => (value === null || value === undefined ? [] : [attribute(key, value)]))
}

function attribute(key: string, value: Json): JsonObject {
  return { key, value: encodeValue(value) }
}

function encodeValue(value: Json): JsonObject {
  switch (typeof value) {
    case 'string':
      return { stringValue: value }
    case 'boolean':
      return { boolValue: value }
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: value.toString() } : { doubleValue: value }
    default:
      if (Array.isArray(value)) return { arrayValue: { values: value.map((item: Json) => encodeValue(item)) } }
      return { stringValue: JSON.stringify(value) }
  }
}
