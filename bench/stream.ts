/**
 * What decoding a stream costs: CPU time of a whole turn with the journal on, against that of the AI SDK's `doStream` alone, for answers that
 * arrive 16 deltas at a time. The server is a process of its own. Promised is at most 1.5 times as much.
 *
 *     npm run bench -- stream [DELTAS] [ROUNDS] [--check]      default 4000 15
 *
 * The two take turns, so that what else the machine does weighs on both; the least of each counts, since other processes only ever add.
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
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createModel } from '../src/app/models.ts'
import { query } from '../src/app/query.ts'
import { openRecorder } from '../src/app/recorder.ts'

const BATCH = 16
const PROMISED = 1.5

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
  readonly delta: (index: number) => string
  readonly after: string
}

const word = (index: number): string => `word${index % 100} `

const CHAT: Wire = {
  before: chunk({ role: 'assistant', content: '' }),
  delta: (index) => chunk({ content: word(index) }),
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
  delta: (index) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word(index) } }),
  after:
    event({ type: 'content_block_stop', index: 0 }) +
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } }) +
    event({ type: 'message_stop' }),
}

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
    void answer(request.url?.endsWith('/messages') === true ? MESSAGES : CHAT, deltas, response)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

/** CPU milliseconds of this process. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function measure(deltas: number, rounds: number): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'cria-bench-'))
  const server = fork(import.meta.filename, ['serve', String(deltas)])
  const [port] = (await once(server, 'message')) as [number]
  const baseURL = `http://127.0.0.1:${port}/v1`
  const recorder = await openRecorder({ path: join(dir, 'journal.db') })
  const settings = { baseURL, apiKey: 'none' }
  const apis = [
    ['openai-compatible/m', createOpenAICompatible({ ...settings, name: 'x', includeUsage: true })('m')],
    ['openai-chat/gpt-4o', createOpenAI(settings).chat('gpt-4o')],
    ['anthropic/claude-sonnet-4-5', createAnthropic(settings)('claude-sonnet-4-5')],
  ] as const

  const rows: object[] = []
  let isKept = true
  for (const [ref, sdk] of apis) {
    const model = createModel(ref, settings)
    const alone = async (): Promise<void> => {
      const { stream } = await sdk.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go on.' }] }] })
      let length = 0
      for await (const part of stream) if (part.type === 'text-delta') length += part.delta.length
      if (length < deltas) throw new Error('doStream gave less than was sent.')
    }
    const turn = async (): Promise<void> => {
      for await (const told of query({ model, prompt: 'Go on.', recorder }))
        if (told.type === 'error') throw new Error(told.error.message)
    }
    const least = { alone: Infinity, turn: Infinity }
    for (let round = 0; round < rounds; round++) {
      least.alone = Math.min(least.alone, await cpuOf(alone))
      least.turn = Math.min(least.turn, await cpuOf(turn))
    }
    const ratio = least.turn / least.alone
    isKept &&= ratio <= PROMISED
    rows.push({
      api: ref,
      'doStream, cpu ms': least.alone,
      'turn with journal, cpu ms': least.turn,
      ratio: Number(ratio.toFixed(2)),
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
