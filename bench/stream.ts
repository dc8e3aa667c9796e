/**
 * Measures the CPU time of a streamed answer: a whole turn with journal, compared with a bare `fetch` that parses each event and concatenates the
 * text, for answers that arrive 16 deltas at a time. The server runs in a separate process.
 *
 *     npm run bench -- stream [DELTAS] [ROUNDS] [--check]      default 4000 15
 *
 * The cases are interleaved, so that other load on the machine affects all of them; the minimum of each counts.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createModel } from '../src/app/models.ts'
import { query } from '../src/app/query.ts'
import { openRecorder } from '../src/app/journal.ts'
import { user } from '../src/core/message.ts'
import { quietSpan } from './support/quiet-span.ts'

const BATCH = 16
/** Maximum CPU time of a turn with journal, as a multiple of the bare `fetch`. */
const LIMIT = 2.5

const event = (data: { readonly type?: string; readonly [name: string]: unknown }): string =>
  `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`
const chunk = (delta: object, finish: string | null = null): string =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
const word = (index: number): string => `word${index % 100} `

interface Delta {
  readonly delta?: string | { readonly text?: string }
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[]
}

interface Wire {
  readonly model: string
  readonly path: string
  readonly before: string
  readonly delta: (index: number) => string
  readonly after: string
  /** What the least of all clients takes from an event. */
  readonly textOf: (event: Delta) => string
}

const CHAT: Wire = {
  model: 'openai-compatible/m',
  path: '/v1/chat/completions',
  before: chunk({ role: 'assistant', content: '' }),
  delta: (index) => chunk({ content: word(index) }),
  after: `${chunk({}, 'stop')}${event({ id: 'c', model: 'm', choices: [], usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } })}data: [DONE]\n\n`,
  textOf: ({ choices }) => choices?.[0]?.delta.content ?? '',
}

const textDelta = ({ delta }: Delta): string => (typeof delta === 'string' ? delta : (delta?.text ?? ''))

const RESPONSES: Wire = {
  model: 'openai/gpt-4o',
  path: '/v1/responses',
  before:
    event({ type: 'response.created', response: { id: 'r', model: 'm', status: 'in_progress', output: [] } }) +
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item: { id: 'i', type: 'message', role: 'assistant', content: [] },
    }),
  delta: (index) =>
    event({
      type: 'response.output_text.delta',
      sequence_number: index,
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      delta: word(index),
    }),
  after: event({
    type: 'response.completed',
    response: {
      id: 'r',
      model: 'm',
      status: 'completed',
      output: [],
      usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 },
    },
  }),
  textOf: textDelta,
}

const MESSAGES: Wire = {
  model: 'anthropic/claude-sonnet-4-5',
  path: '/v1/messages',
  before:
    event({
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  delta: (index) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word(index) } }),
  after:
    event({ type: 'content_block_stop', index: 0 }) +
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }) +
    event({ type: 'message_stop' }),
  textOf: textDelta,
}

const WIRES = [CHAT, RESPONSES, MESSAGES]

async function answer(wire: Wire, deltas: number, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(wire.before)
  for (let index = 0; index < deltas; index += BATCH) {
    let batch = ''
    for (let at = index; at < Math.min(index + BATCH, deltas); at++) batch += wire.delta(at)
    if (!response.write(batch)) await once(response, 'drain')
    // Else batches would run together.
    await setImmediate()
  }
  response.end(wire.after)
}

function serve(deltas: number): void {
  const server = createServer((request, response) => {
    request.resume()
    void answer(WIRES.find(({ path }) => path === request.url) ?? CHAT, deltas, response)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

/** The least that a client can do. */
async function bareFetch(url: string, { textOf }: Wire): Promise<number> {
  const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  const decoder = new TextDecoder()
  let rest = ''
  let length = 0
  for await (const bytes of response.body ?? []) {
    const blocks = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = block.slice(block.indexOf('data: ') + 'data: '.length)
      if (data !== '[DONE]') length += textOf(JSON.parse(data) as Delta).length
    }
  }
  return length
}

/** CPU milliseconds of this process. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user: own, system } = process.cpuUsage(before)
  return (own + system) / 1000
}

async function measure(deltas: number, rounds: number): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'cria-bench-'))
  const server = fork(import.meta.filename, ['serve', String(deltas)])
  const [port] = (await once(server, 'message')) as [number]
  const baseURL = `http://127.0.0.1:${port}/v1`
  const recorder = await openRecorder({ path: join(dir, 'journal.db') })

  const rows: object[] = []
  let isKept = true
  for (const wire of WIRES) {
    const model = createModel(wire.model, { baseURL, apiKey: 'none' })
    const cases = {
      async bare() {
        if ((await bareFetch(`http://127.0.0.1:${port}${wire.path}`, wire)) < deltas) throw new Error('Less came than was sent.')
      },
      async decoded() {
        const call = { signal: new AbortController().signal, span: quietSpan() }
        for await (const part of model.stream({ model: model.ref, messages: [user('Go on.')], stream: true }, call)) void part
      },
      async turn() {
        for await (const event of query({ model, prompt: 'Go on.', recorder }))
          if (event.type === 'error') throw new Error(event.error.message)
      },
    }
    const least = { bare: Infinity, decoded: Infinity, turn: Infinity }
    for (let round = 0; round < rounds; round++)
      for (const name of ['bare', 'decoded', 'turn'] as const) least[name] = Math.min(least[name], await cpuOf(cases[name]))
    const ratio = least.turn / least.bare
    isKept &&= ratio <= LIMIT
    const perDelta = (ms: number): number => Number(((ms * 1000) / deltas).toFixed(2))
    rows.push({
      model: wire.model,
      'bare fetch, µs a delta': perDelta(least.bare),
      'our parts, µs': perDelta(least.decoded),
      'turn with journal, µs': perDelta(least.turn),
      'parts / bare': Number((least.decoded / least.bare).toFixed(2)),
      'turn / bare': Number(ratio.toFixed(2)),
      limit: LIMIT,
    })
  }
  console.table(rows)
  await recorder.close()
  server.kill()
  rmSync(dir, { recursive: true })
  return isKept
}

const [first, second] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
if (first === 'serve') {
  serve(Number(second))
} else {
  const isKept = await measure(Number(first ?? 4000), Number(second ?? 15))
  if (process.argv.includes('--check') && !isKept) process.exitCode = 1
}
