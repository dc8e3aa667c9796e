/**
 * Measures CPU time per delta of a streamed answer: a whole turn with journal, compared with `streamText` and `doStream` of the AI SDK and
 * a bare `fetch` that only reads the bytes. The server runs in a separate process.
 *
 *     npm run bench -- deltas [DELTAS] [ROUNDS] [--check]      default 1500 9
 *
 * Deltas arrive singly, a millisecond apart, or 16 at a time. All cases are interleaved, so that other load on the machine affects all of
 * them; the minimum of each counts. The goal is 0.9 times `streamText` for single deltas.
 */

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import { createModel } from '../src/app/models.ts'
import { query } from '../src/app/query.ts'
import { check, leastOf, numbersGiven, withStreams } from './support/stream-bench.ts'

const SHAPES = { single: 1, batches: 16 } as const
const PROMISED = 0.9

const [deltas = 1500, rounds = 9] = numbersGiven()
const isKept = await withStreams(deltas, async ({ port, recorder }) => {
  const rows: object[] = []
  let isMet = true
  for (const [shape, together] of Object.entries(SHAPES)) {
    const baseURL = `http://127.0.0.1:${port}/${together}/v1`
    const settings = { baseURL, apiKey: 'none' }
    const apis = [
      ['openai-compatible/m', createOpenAICompatible({ ...settings, name: 'x', includeUsage: true })('m'), '/chat/completions'],
      ['openai-chat/gpt-4o', createOpenAI(settings).chat('gpt-4o'), '/chat/completions'],
      ['anthropic/claude-sonnet-4-5', createAnthropic(settings)('claude-sonnet-4-5'), '/messages'],
    ] as const
    for (const [ref, sdk, path] of apis) {
      const model = createModel(ref, settings)
      const turn = async (journal: typeof recorder | false): Promise<void> => {
        for await (const event of query({ model, prompt: 'Go on.', ...(journal === false ? {} : { recorder: journal }) }))
          if (event.type === 'error') throw new Error(event.error.message)
      }
      const cases = {
        fetch: async () => {
          const { body } = await fetch(`${baseURL}${path}`, { method: 'POST', body: '{}' })
          const pieces: AsyncIterable<Uint8Array> | null = body
          for await (const bytes of pieces ?? []) if (bytes.length === 0) throw new Error('Received an empty piece.')
        },
        doStream: async () => {
          const { stream } = await sdk.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go on.' }] }] })
          let length = 0
          for await (const part of stream) if (part.type === 'text-delta') length += part.delta.length
          if (length < deltas) throw new Error('doStream returned less than was sent.')
        },
        streamText: async () => {
          let length = 0
          for await (const text of streamText({ model: sdk, prompt: 'Go on.' }).textStream) length += text.length
          if (length < deltas) throw new Error('streamText returned less than was sent.')
        },
        turn: () => turn(recorder),
        'turn, no journal': () => turn(false),
      }
      const least = await leastOf(cases, rounds)
      const ratio = least.turn / least.streamText
      if (shape === 'single') isMet &&= ratio <= PROMISED
      const perDelta = Object.entries(least).map(([name, ms]): [string, number] => [
        `${name}, µs`,
        Math.round((ms * 1000) / deltas),
      ])
      rows.push({ arrival: shape, api: ref, ...Object.fromEntries(perDelta), 'turn : streamText': Number(ratio.toFixed(2)) })
    }
  }
  console.table(rows)
  return isMet
})
check(isKept)
