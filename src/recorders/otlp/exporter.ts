/** Sends spans to an OpenTelemetry collector over HTTP, beside the journal. A collector that fails costs nobody an answer. */

import type { SpanRecord } from '../../core/span.ts'
import { encodeSpans } from './encode.ts'

export interface OtlpOptions {
  /** Base URL of the collector; `/v1/traces` is added. */
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>>
  /** Default `cria`. */
  readonly serviceName?: string
  readonly fetch?: typeof fetch
}

/** Spans that are sent in one request at most. */
const BATCH = 512
/** Milliseconds until spans are sent whose trace goes on. */
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

  /** Takes a span; a trace is sent when its outermost span has ended. */
  add(span: SpanRecord): void {
    this.#waiting.push(span)
    if (span.parentSpanId === null || this.#waiting.length >= BATCH) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), PATIENCE).unref()
  }

  /** Resolves when everything taken so far was sent or given up. Never rejects. */
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
