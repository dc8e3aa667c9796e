/**
 * Shows our spans to the tracing of the application that we run in, where it has registered one with `@opentelemetry/api`. Whether it has is seen
 * without loading anything: the package keeps what is registered in one place of the process, whichever copy of it was used.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Api from '@opentelemetry/api'
import type { Json, JsonObject } from '../../core/json.ts'
import type { MirroredSpan, SpanMirror, SpanRecord } from '../../core/span.ts'

/** Where versions 1 of the package keep what is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** For spans that begin inside whatever span of the application is the current one now; `undefined` where nobody traces. */
export function hostTracing(): SpanMirror | undefined {
  const registered: unknown = Reflect.get(globalThis, REGISTERED)
  if (typeof registered !== 'object' || registered === null || !('trace' in registered)) return undefined
  const api = loadApi()
  if (api === undefined) return undefined
  const around = api.context.active()
  return {
    start(name, begin) {
      try {
        return startMirrored(api, around, name, begin)
      } catch {
        // A tracing that fails costs nobody an answer.
        return { run: (work) => work(), end: () => {} }
      }
    },
  }
}

const mirrored = new WeakMap<MirroredSpan, Api.Context>()

function startMirrored(
  { context, trace, SpanStatusCode }: typeof Api,
  around: Api.Context,
  name: string,
  { startedAt, attributes, parent }: Parameters<SpanMirror['start']>[1],
): MirroredSpan {
  const outer = (parent === undefined ? undefined : mirrored.get(parent)) ?? around
  const span = trace.getTracer('cria').startSpan(name, { startTime: startedAt, attributes: toAttributes(attributes) }, outer)
  const inner = trace.setSpan(outer, span)
  const own: MirroredSpan = {
    run: (work) => context.with(inner, work),
    end(record: SpanRecord) {
      try {
        span.setAttributes(toAttributes(record.attributes))
        for (const event of record.events) span.addEvent(event.name, toAttributes(event.attributes ?? {}), event.at)
        if (record.status === 'error')
          span.setStatus({ code: SpanStatusCode.ERROR, ...(record.error === undefined ? {} : { message: record.error }) })
        span.end(record.endedAt)
      } catch {
        // As above.
      }
    },
  }
  mirrored.set(own, inner)
  return own
}

let loaded: typeof Api | undefined

/** The copy beside us, else the application's; both show the same. */
function loadApi(): typeof Api | undefined {
  for (const from of [import.meta.url, join(process.cwd(), 'index.js')]) {
    try {
      return (loaded ??= createRequire(from)('@opentelemetry/api') as typeof Api)
    } catch {
      // It is an optional package.
    }
  }
  return undefined
}

/** Attributes are texts, numbers, truth values and lists of one kind of these. */
function toAttributes(attributes: JsonObject): Api.Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [[name, toValue(value)]])),
  )
}

function toValue(value: Json | undefined): Api.AttributeValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  return JSON.stringify(value ?? null)
}
