/**
 * Measures the overhead of a step early and late in a turn: CPU time between two `usage` events, with a model that answers at once and a tool
 * that does nothing. The cost must not depend on the length of the conversation, with and without compaction. The heap must not grow by more
 * than the history: a fixed number of kilobytes per step.
 *
 *     npm run bench -- steps
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { query } from '../src/engine/query.ts'
import type { LanguageModel, ModelPart, ModelRequest } from '../src/core/model.ts'

const STEPS = 2100
const WIDTH = 80
/** Width of measured ranges with compaction: each range contains several compactions, so that ranges are comparable. */
const WIDE = 400

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const echo = {
  name: 'echo',
  description: 'Gives back what it gets.',
  inputSchema: { type: 'object' },
  isReadOnly: true,
  needsPermission: false,
  call: (input: { n: number }) => `got ${input.n}, and the wind turned to the north before the rain had come`,
}

const isSummary = ({ messages }: ModelRequest): boolean => messages[0]?.role === 'system'

/** Keeps no request, so that only the engine's own memory counts. */
function model(contextWindow: number | null): LanguageModel {
  let step = 0
  return {
    ref: 'bench/model',
    facts: { contextWindow, maxOutputTokens: null },
    async *stream(request): AsyncGenerator<ModelPart> {
      if (isSummary(request)) {
        yield { type: 'text', text: 'Notes: the wind was looked at.' }
        yield { type: 'finish', reason: 'stop' }
        return
      }
      step++
      if (step < STEPS) yield { type: 'tool-call', id: `call_${step}`, name: 'echo', input: { n: step } }
      else yield { type: 'text', text: 'Done.' }
      yield { type: 'finish', reason: step < STEPS ? 'tool-calls' : 'stop' }
    },
  }
}

interface Measured {
  /** Milliseconds of CPU time, step by step. */
  readonly times: readonly number[]
  readonly compactions: number
  /** Bytes in use after so many hundred steps. */
  readonly heap: readonly number[]
}

async function cpuPerStep(contextWindow: number | null): Promise<Measured> {
  const times: number[] = []
  const heap: number[] = []
  let compactions = 0
  let last = process.cpuUsage()
  for await (const event of query({ model: model(contextWindow), prompt: 'Go', tools: [echo], maxSteps: STEPS })) {
    if (event.type === 'compaction') compactions++
    if (event.type !== 'usage') continue
    const used = process.cpuUsage(last)
    times.push((used.user + used.system) / 1000)
    if (times.length % 100 === 0) {
      collectGarbage()
      heap.push(process.memoryUsage().heapUsed)
    }
    last = process.cpuUsage()
  }
  return { times, compactions, heap }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** With what happens once in a while. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

for (const { what, contextWindow, average, width, windows } of [
  {
    what: 'a conversation that only grows (median)',
    contextWindow: null,
    average: median,
    width: WIDTH,
    windows: [20, 100, 1000, 2000],
  },
  {
    what: 'a window of 6,000 tokens, counted and compacted (mean)',
    contextWindow: 6000,
    average: mean,
    width: WIDE,
    windows: [100, 500, 1000, 1700],
  },
]) {
  await cpuPerStep(contextWindow) // The first run is the compiler's.
  const { times, compactions, heap } = await cpuPerStep(contextWindow)
  console.log(`${what}: ${compactions} compactions`)
  const averageFrom = (from: number): number => average(times.slice(from, from + width))
  const base = averageFrom(windows[0] ?? 0)
  for (const from of windows) {
    const own = averageFrom(from)
    console.log(`step ${String(from).padStart(4)}: ${own.toFixed(3)} ms CPU, ${(own / base).toFixed(2)} times step ${windows[0]}`)
  }
  for (const [from, to] of [
    [1, 10],
    [10, 20],
  ] as const) {
    const bytes = ((heap[to - 1] ?? 0) - (heap[from - 1] ?? 0)) / ((to - from) * 100)
    console.log(`steps ${from * 100} to ${to * 100}: ${(bytes / 1024).toFixed(2)} kB of heap a step`)
  }
}
