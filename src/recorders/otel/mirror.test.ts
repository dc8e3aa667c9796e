import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { query } from '../../app/query.ts'
import { CriaError } from '../../core/error.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import { hostTracing } from './mirror.ts'

const exporter = new InMemorySpanExporter()
const contexts = new AsyncLocalStorageContextManager()

function register(): void {
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
  context.setGlobalContextManager(contexts.enable())
}

beforeEach(() => exporter.reset())
afterEach(() => {
  trace.disable()
  context.disable()
})

describe('spans in the tracing of the application', () => {
  it('REC-SPAN-001 are children of the span current when query() was called, and nested like ours', async () => {
    register()
    const tracer = trace.getTracer('host')
    let seen: string | undefined
    const model = new ScriptedModel(() => ({
      text: 'Yes.',
      usage: { inputTokens: 5, outputTokens: 1 },
      before: () => {
        seen = trace.getActiveSpan()?.spanContext().spanId
      },
    }))
    const turn = tracer.startActiveSpan('request', (span) => {
      const started = query({ prompt: 'Is it?', model, temperature: 0 })
      span.end()
      return started
    })
    await Array.fromAsync(turn)
    const spans = Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]))
    const { request, query: whole, llm_request: asked } = spans
    expect(whole?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
    expect(asked?.parentSpanContext?.spanId).toBe(whole?.spanContext().spanId)
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1)
    expect(asked?.attributes).toMatchObject({ 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 5 })
    // Spans of the provider become children of the request.
    expect(seen).toBe(asked?.spanContext().spanId)
  })

  it('REC-SPAN-001 report failures, and end when the turn is left', async () => {
    register()
    const failing = new ScriptedModel(() => ({ fail: { after: 0, error: new CriaError('invalid_request', 'No.') } }))
    await Array.fromAsync(query({ prompt: 'Is it?', model: failing }))
    expect(exporter.getFinishedSpans().map(({ name, status }) => [name, status])).toEqual([
      ['llm_request', { code: SpanStatusCode.ERROR, message: 'No.' }],
      ['query', { code: SpanStatusCode.ERROR, message: 'No.' }],
    ])
    exporter.reset()
    for await (const event of query({ prompt: 'Is it?', model: new ScriptedModel(['Yes.']) }))
      if (event.type === 'text_delta') break
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['llm_request', 'query'])
  })

  it('REC-SPAN-001 are nested like ours, also without a context manager', async () => {
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
    await Array.fromAsync(query({ prompt: 'Is it?', model: new ScriptedModel(['Yes.']) }))
    const [asked, whole] = exporter.getFinishedSpans()
    expect([asked?.name, whole?.name]).toEqual(['llm_request', 'query'])
    expect(asked?.parentSpanContext?.spanId).toBe(whole?.spanContext().spanId)
  })

  it('REC-SPAN-001 are not sent without a registered tracing', async () => {
    expect(hostTracing()).toBeUndefined()
    await Array.fromAsync(query({ prompt: 'Is it?', model: new ScriptedModel(['Yes.']) }))
    expect(exporter.getFinishedSpans()).toEqual([])
  })
})
