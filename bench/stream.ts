/**
 * Measures the CPU time of a streamed answer: a whole turn with journal, compared with a bare `fetch` that parses each event and concatenates the
 * text, for answers that arrive 16 deltas at a time. The server runs in a separate process.
 *
 *     npm run bench -- stream [DELTAS] [ROUNDS] [--check]      default 4000 15
 *
 * The cases are interleaved, so that other load on the machine affects all of them; the minimum of each counts.
 */

import { createModel } from '../src/app/models.ts'
import { query } from '../src/app/query.ts'
import { user } from '../src/core/message.ts'
import { quietSpan } from './support/quiet-span.ts'
import { check, leastOf, numbersGiven, withStreams } from './support/stream-bench.ts'

/** Maximum CPU time of a turn with journal, as a multiple of the bare `fetch`. */
const LIMIT = 2.5

interface Delta {
  readonly delta?: string | { readonly text?: string }
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[]
}

const textDelta = ({ delta }: Delta): string => (typeof delta === 'string' ? delta : (delta?.text ?? ''))
/** Models of each API with their path, and the text of an event, as a minimal client reads it. */
const APIS = [
  ['openai-compatible/m', '/chat/completions', ({ choices }: Delta) => choices?.[0]?.delta.content ?? ''],
  ['openai/gpt-4o', '/responses', textDelta],
  ['anthropic/claude-sonnet-4-5', '/messages', textDelta],
] as const

/** Reads an answer with the least work. @returns the length of its text. */
async function bareFetch(url: string, textOf: (event: Delta) => string): Promise<number> {
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

const [deltas = 4000, rounds = 15] = numbersGiven()
const isKept = await withStreams(deltas, async ({ port, recorder }) => {
  const baseURL = `http://127.0.0.1:${port}/plain/16/v1`
  const rows: object[] = []
  let isMet = true
  for (const [ref, path, textOf] of APIS) {
    const model = createModel(ref, { baseURL, apiKey: 'none' })
    const least = await leastOf(
      {
        async bare() {
          if ((await bareFetch(`${baseURL}${path}`, textOf)) < deltas) throw new Error('Received less than was sent.')
        },
        async decoded() {
          const call = { signal: new AbortController().signal, span: quietSpan() }
          for await (const part of model.stream({ model: model.ref, messages: [user('Go on.')], stream: true }, call)) void part
        },
        async turn() {
          for await (const event of query({ model, prompt: 'Go on.', recorder }))
            if (event.type === 'error') throw new Error(event.error.message)
        },
      },
      rounds,
    )
    const ratio = least.turn / least.bare
    isMet &&= ratio <= LIMIT
    const perDelta = (ms: number): number => Number(((ms * 1000) / deltas).toFixed(2))
    rows.push({
      model: ref,
      'bare fetch, µs a delta': perDelta(least.bare),
      'our parts, µs': perDelta(least.decoded),
      'turn with journal, µs': perDelta(least.turn),
      'parts / bare': Number((least.decoded / least.bare).toFixed(2)),
      'turn / bare': Number(ratio.toFixed(2)),
      limit: LIMIT,
    })
  }
  console.table(rows)
  return isMet
})
check(isKept)
