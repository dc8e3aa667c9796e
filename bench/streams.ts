/**
 * Measures the latency of deltas when many answers stream at once: milliseconds from sending a delta to its arrival at the reader, for whole
 * turns with journal, compared with `streamText` of the AI SDK.
 *
 *     npm run bench -- streams [STREAMS] [DELTAS] [ROUNDS] [--check]      default 100 150 5
 *
 * Each answer sends a delta every 20 ms. The server is a separate process on the same machine and clock. The two cases are interleaved; the
 * median of the rounds counts. The goal is a 99th percentile of at most 1.5 times that of `streamText`.
 */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import { createModel } from '../src/app/models.ts'
import { query } from '../src/app/query.ts'
import { check, cpuOf, numbersGiven, withStreams } from './support/stream-bench.ts'

const PAUSE_MS = 20
const PROMISED = 1.5

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
/** Records the latency of each word of a text. */
function note(text: string, lateness: number[]): void {
  const now = performance.timeOrigin + performance.now()
  for (const [, at] of text.matchAll(/@(\d+\.\d+)/g)) lateness.push(now - Number(at))
}

const [streams = 100, deltas = 150, rounds = 5] = numbersGiven()
const isMet = await withStreams(deltas, async ({ port, recorder }) => {
  const settings = { baseURL: `http://127.0.0.1:${port}/1/${PAUSE_MS}/v1`, apiKey: 'none' }
  const sdk = createOpenAICompatible({ ...settings, name: 'x', includeUsage: true })('m')
  const model = createModel('openai-compatible/m', settings)
  const cases: Readonly<Record<string, (lateness: number[]) => Promise<void>>> = {
    streamText: async (lateness) => {
      const texts: AsyncIterable<string> = streamText({ model: sdk, prompt: 'Go on.' }).textStream
      for await (const text of texts) note(text, lateness)
    },
    'turn with journal': async (lateness) => {
      for await (const event of query({ model, prompt: 'Go on.', recorder })) {
        if (event.type === 'text_delta') note(event.text, lateness)
        if (event.type === 'error') throw new Error(event.error.message)
      }
    },
  }

  const measured = new Map<string, { p50: number; p99: number; cpu: number }[]>(Object.keys(cases).map((name) => [name, []]))
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const [name, work] of Object.entries(cases)) {
      const lateness: number[] = []
      const cpu = await cpuOf(() => Promise.all(Array.from({ length: streams }, () => work(lateness))))
      if (lateness.length !== streams * deltas)
        throw new Error(`${name}: ${lateness.length} deltas arrived of ${streams * deltas}.`)
      lateness.sort((a, b) => a - b)
      const at = (share: number): number => lateness[Math.floor(lateness.length * share)] ?? Number.NaN
      if (round >= 0) measured.get(name)?.push({ p50: at(0.5), p99: at(0.99), cpu: (cpu * 1000) / lateness.length })
    }
  }

  const rows = [...measured].map(([name, all]) => ({
    name,
    'p50, ms': Number(median(all.map(({ p50 }) => p50)).toFixed(1)),
    'p99, ms': Number(median(all.map(({ p99 }) => p99)).toFixed(1)),
    'CPU a delta, µs': Math.round(median(all.map(({ cpu }) => cpu))),
  }))
  console.table(rows)
  const ratio = (rows[1]?.['p99, ms'] ?? Number.NaN) / (rows[0]?.['p99, ms'] ?? Number.NaN)
  console.log(`p99 of the turn : p99 of streamText = ${ratio.toFixed(2)}`)
  return ratio <= PROMISED
})
check(isMet)
