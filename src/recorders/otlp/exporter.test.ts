import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Recorder } from '../../core/recorder.ts'
import { query } from '../../engine/query.ts'
import { startSpan } from '../../engine/span.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../sqlite/recorder.ts'
import { exportSpans, headersOf, OtlpExporter } from './exporter.ts'

interface Received {
  readonly url: string | undefined
  readonly key: unknown
  readonly body: { resourceSpans: { resource: unknown; scopeSpans: { spans: Record<string, unknown>[] }[] }[] }
}

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A collector in this process. */
async function collector(status = 200): Promise<{ endpoint: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      received.push({ url: request.url, key: request.headers['x-key'], body: JSON.parse(body) })
      response.writeHead(status).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

describe('OtlpExporter', () => {
  it('REC-SPAN-001 sends a collector the spans of a trace, nested, with attributes, events and errors', async () => {
    const { endpoint, received } = await collector()
    const exporter = new OtlpExporter({ endpoint: `${endpoint}/`, headers: { 'x-key': 'k' } })
    const root = startSpan('querybot.ask', {
      clock: { now: () => 1.5 },
      sink: (span) => exporter.add(span),
      attributes: { text: 'a', n: 3, share: 0.5, yes: true, none: null, list: ['x'] },
    })
    const child = root.child('llm_request')
    child.event('first', { at: 1 })
    child.fail(new Error('Down.'))
    child.end()
    root.end()
    await exporter.flush()

    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ url: '/v1/traces', key: 'k' })
    const [first, second] = received[0]?.body.resourceSpans[0]?.scopeSpans[0]?.spans ?? []
    expect(first).toMatchObject({
      traceId: root.traceId,
      parentSpanId: root.spanId,
      name: 'llm_request',
      kind: 3,
      status: { code: 2, message: 'Down.' },
      events: [{ name: 'first', timeUnixNano: '1500000', attributes: [{ key: 'at', value: { intValue: '1' } }] }],
    })
    expect(second).toMatchObject({ name: 'querybot.ask', startTimeUnixNano: '1500000', status: { code: 1 } })
    expect(second?.['attributes']).toEqual([
      { key: 'text', value: { stringValue: 'a' } },
      { key: 'n', value: { intValue: '3' } },
      { key: 'share', value: { doubleValue: 0.5 } },
      { key: 'yes', value: { boolValue: true } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'x' }] } } },
    ])
  })

  it('REC-SPAN-001 a turn is stored in the journal and sent to the collector', async () => {
    const { endpoint, received } = await collector()
    const recorder: Recorder = exportSpans(await SqliteRecorder.open({ path: ':memory:' }), new OtlpExporter({ endpoint }))
    const events = await Array.fromAsync(query({ prompt: 'Hi', model: new ScriptedModel(['Hello.']), recorder }))
    const spans = (await recorder.read.turn(events[0]?.turnId ?? ''))?.spans ?? []
    await recorder.close()
    const sent = received.flatMap(({ body }) => body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [])
    expect(new Set(sent.map(({ spanId }) => spanId))).toEqual(new Set(spans.map(({ spanId }) => spanId)))
    expect(sent).toHaveLength(2)
  })

  it.each([
    ['', {}],
    ['authorization=Bearer%20k, x-a=1=2', { authorization: 'Bearer k', 'x-a': '1=2' }],
    ['=x,y=%', { y: '%' }],
  ])('reads the headers %j', (text, headers) => {
    expect(headersOf(text)).toEqual(headers)
  })

  it('warns once when the collector fails, and throws nothing', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { endpoint } = await collector(500)
    const exporter = new OtlpExporter({ endpoint })
    for (let i = 0; i < 3; i++) startSpan('query', { clock: Date, sink: (span) => exporter.add(span) }).end()
    await exporter.flush()
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([expect.stringContaining('answered 500')])
    warn.mockRestore()
  })
})
