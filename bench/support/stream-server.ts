/**
 * Streams answers in the formats of Chat Completions, Responses and Messages; started as a separate process with the number of deltas.
 * `/N/v1/...` sends N deltas at a time, single deltas a millisecond apart; `/N/MS/v1/...` waits MS milliseconds after each.
 * Each text is a word and its sending time, so that a reader can compute its latency; below `/plain/` it is a word only.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout } from 'node:timers/promises'

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
const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }

interface Wire {
  readonly before: string
  readonly delta: (text: string) => string
  readonly after: string
}

const CHAT: Wire = {
  before: chunk({ role: 'assistant', content: '' }),
  delta: (content) => chunk({ content }),
  after: `${chunk({}, 'stop')}${event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: USAGE })}data: [DONE]\n\n`,
}

const MESSAGES: Wire = {
  before:
    event({
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  delta: (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  after:
    event({ type: 'content_block_stop', index: 0 }) +
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }) +
    event({ type: 'message_stop' }),
}

const RESPONSES: Wire = {
  before:
    event({ type: 'response.created', response: { id: 'r', model: 'm', status: 'in_progress', output: [] } }) +
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item: { id: 'i', type: 'message', role: 'assistant', content: [] },
    }),
  delta: (delta) => event({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta }),
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
}

/** Wire formats by the end of the path. */
const WIRES: Readonly<Record<string, Wire>> = { messages: MESSAGES, responses: RESPONSES }

interface Pace {
  /** Number of deltas sent at a time. */
  readonly together: number
  /** Milliseconds after each of them. */
  readonly pauseMs: number
  readonly isTimed: boolean
}

async function answer(wire: Wire, { together, pauseMs, isTimed }: Pace, response: ServerResponse): Promise<void> {
  const sent = (): string => (isTimed ? `@${(performance.timeOrigin + performance.now()).toFixed(2)}` : '')
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(wire.before)
  for (let index = 0; index < deltas; index += together) {
    let batch = ''
    for (let at = index; at < Math.min(index + together, deltas); at++) batch += wire.delta(`word${at % 100}${sent()} `)
    if (!response.write(batch)) await once(response, 'drain')
    // Keeps batches apart.
    await (pauseMs > 0 ? setTimeout(pauseMs) : setImmediate())
  }
  response.end(wire.after)
}

const deltas = Number(process.argv[2])
const server = createServer((request, response) => {
  request.resume()
  const [, plain, together = '1', pause] = request.url?.match(/^\/(plain\/)?(\d+)(?:\/(\d+))?\//) ?? []
  const wire = WIRES[request.url?.split('/').at(-1) ?? ''] ?? CHAT
  const pauseMs = pause === undefined ? Number(together === '1') : Number(pause)
  void answer(wire, { together: Number(together), pauseMs, isTimed: plain === undefined }, response)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
