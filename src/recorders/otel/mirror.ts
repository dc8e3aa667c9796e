/**
 * Mirrors our spans to the tracing of the host application, if it has registered one with `@opentelemetry/api`. Does not load that package: its
 * version 1 stores what is registered in a global object of the process, under names shared by all copies. That also works in a
 * bundle.
 */

import type { Context, ContextManager, Attributes, AttributeValue, TracerProvider } from '@opentelemetry/api'
import type { Json, JsonObject } from '../../core/json.ts'
import type { MirroredSpan, SpanMirror, SpanRecord } from '../../core/span.ts'

/** Global key under which version 1 of the package stores what is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
/** Key of the current span in a context. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')
/** The status code `ERROR`. */
const ERROR = 2

interface Registered {
  readonly trace?: TracerProvider
  readonly context?: ContextManager
}

/** Mirrors spans into the application's current span; `undefined` where no tracing is registered. */
export function hostTracing(): SpanMirror | undefined {
  const { trace, context }: Registered = (Reflect.get(globalThis, REGISTERED) as Registered | undefined) ?? {}
  if (typeof trace?.getTracer !== 'function') return undefined
  const around = context?.active() ?? contextOf(new Map())
  return {
    start(name, begin) {
      try {
        return startMirrored(trace, context, around, name, begin)
      } catch {
        // A tracer that fails must not prevent the answer.
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

/** Makes a context like those of the package, for an application without a context manager. */
function contextOf(values: ReadonlyMap<symbol, unknown>): Context {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextOf(new Map(values).set(key, value)),
    deleteValue: (key) => contextOf(new Map([...values].filter(([other]) => other !== key))),
  }
}

/** Converts attributes: OpenTelemetry allows strings, numbers, booleans and lists of one of these types. */
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
