/**
 * Shows our spans to the tracing of the application that we run in, where it has registered one with `@opentelemetry/api`. Nothing is loaded: the
 * package keeps what is registered in one place of the process, under names that all copies of its version 1 share, and that is all we use. So
 * it works in a bundle as well.
 */

import type { Context, ContextManager, Attributes, AttributeValue, TracerProvider } from '@opentelemetry/api'
import type { Json, JsonObject } from '../../core/json.ts'
import type { MirroredSpan, SpanMirror, SpanRecord } from '../../core/span.ts'

/** Where versions 1 of the package keep what is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
/** Where they keep the current span in a context. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')
/** `ERROR`. */
const ERROR = 2

interface Registered {
  readonly trace?: TracerProvider
  readonly context?: ContextManager
}

/** For spans that begin inside whatever span of the application is the current one now; `undefined` where nobody traces. */
export function hostTracing(): SpanMirror | undefined {
  const { trace, context }: Registered = (Reflect.get(globalThis, REGISTERED) as Registered | undefined) ?? {}
  if (typeof trace?.getTracer !== 'function') return undefined
  const around = context?.active() ?? contextOf(new Map())
  return {
    start(name, begin) {
      try {
        return startMirrored(trace, context, around, name, begin)
      } catch {
        // A tracing that fails costs nobody an answer.
        return { run: (work) => work(), end: () => {} }
      }
    },
  }
}

const mirrored = new WeakMap<MirroredSpan, Context>()

function startMirrored(
  trace: TracerProvider,
  manager: ContextManager | undefined,
  around: Context,
  name: string,
  { startedAt, attributes, parent }: Parameters<SpanMirror['start']>[1],
): MirroredSpan {
  const outer = (parent === undefined ? undefined : mirrored.get(parent)) ?? around
  const span = trace.getTracer('cria').startSpan(name, { startTime: startedAt, attributes: toAttributes(attributes) }, outer)
  const inner = outer.setValue(SPAN, span)
  const own: MirroredSpan = {
    run: (work) => (manager === undefined ? work() : manager.with(inner, work)),
    end(record: SpanRecord) {
      try {
        span.setAttributes(toAttributes(record.attributes))
        for (const event of record.events) span.addEvent(event.name, toAttributes(event.attributes ?? {}), event.at)
        if (record.status === 'error')
          span.setStatus({ code: ERROR, ...(record.error === undefined ? {} : { message: record.error }) })
        span.end(record.endedAt)
      } catch {
        // As above.
      }
    },
  }
  mirrored.set(own, inner)
  return own
}

/** A context as the package makes them, for an application that registered no manager of contexts. */
function contextOf(values: ReadonlyMap<symbol, unknown>): Context {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextOf(new Map(values).set(key, value)),
    deleteValue: (key) => contextOf(new Map([...values].filter(([other]) => other !== key))),
  }
}

/** Attributes are texts, numbers, truth values and lists of one kind of these. */
function toAttributes(attributes: JsonObject): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [[name, toValue(value)]])),
  )
}

function toValue(value: Json | undefined): AttributeValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  return JSON.stringify(value ?? null)
}
