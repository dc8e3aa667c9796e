/**
 * Our own work in a step, at the beginning of a turn and far into it: CPU time between two `usage` events of a model that answers at once and
 * a tool that does nothing. What a step costs must not depend on how long the conversation is.
 *
 *     npm run bench -- steps
 */

import { query } from '../src/engine/query.ts'
import type { LanguageModel, ModelPart } from '../src/core/model.ts'

const STEPS = 2000
const WINDOWS = [10, 100, 1000, 1900] as const
const WIDTH = 50

const echo = {
  name: 'echo',
  description: 'Gives back what it gets.',
  inputSchema: { type: 'object' },
  isReadOnly: true,
  needsPermission: false,
  call: (input: { n: number }) => `got ${input.n}`,
}

/** Keeps no request, so that only the engine's own memory counts. */
function model(): LanguageModel {
  let step = 0
  return {
    ref: 'bench/model',
    facts: { contextWindow: null, maxOutputTokens: null },
    async *stream(): AsyncGenerator<ModelPart> {
      step++
      if (step < STEPS) yield { type: 'tool-call', id: `call_${step}`, name: 'echo', input: { n: step } }
      else yield { type: 'text', text: 'Done.' }
      yield { type: 'finish', reason: step < STEPS ? 'tool-calls' : 'stop' }
    },
  }
}

async function cpuPerStep(): Promise<number[]> {
  const times: number[] = []
  let last = process.cpuUsage()
  for await (const event of query({ model: model(), prompt: 'Go', tools: [echo], maxSteps: STEPS })) {
    if (event.type !== 'usage') continue
    const used = process.cpuUsage(last)
    times.push((used.user + used.system) / 1000)
    last = process.cpuUsage()
  }
  return times
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

await cpuPerStep() // The first run is the compiler's.
const times = await cpuPerStep()
const base = median(times.slice(WINDOWS[0], WINDOWS[0] + WIDTH))
for (const from of WINDOWS) {
  const own = median(times.slice(from, from + WIDTH))
  console.log(`step ${String(from).padStart(4)}: ${own.toFixed(3)} ms CPU, ${(own / base).toFixed(2)} times step ${WINDOWS[0]}`)
}
