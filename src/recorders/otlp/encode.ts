/** Spans in OTLP's JSON encoding (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */

import type { Json, JsonObject } from '../../core/json.ts'
import type { SpanRecord } from '../../core/span.ts'

/** The body of a request to `/v1/traces`. */
export function encodeSpans(spans: readonly SpanRecord[], serviceName: string): JsonObject {
  return {
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', serviceName)] },
        scopeSpans: [{ scope: { name: 'cria' }, spans: spans.map(encodeSpan) }],
      },
    ],
  }
}

/** Numbers of the protocol: the kinds of a span, and how it ended. */
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
    events: span.events.map(({ name, at, attributes: own }) => ({
      name,
      timeUnixNano: nanoseconds(at),
      attributes: attributes(own ?? {}),
    })),
    status: { code: STATUS[span.status], ...(span.error === undefined ? {} : { message: span.error }) },
  }
}

/** 64-bit numbers are strings in this encoding. */
function nanoseconds(milliseconds: number): string {
  return (BigInt(Math.round(milliseconds * 1000)) * 1000n).toString()
}

function attributes(all: JsonObject): JsonObject[] {
  // An attribute without a value does not exist in OpenTelemetry.
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
