/**
 * Measures the benefit of running tools concurrently: the same calls in sequence, in fixed batches, and as the tools station runs them.
 *
 *     node bench/tools.ts [SEED]
 *
 * Calls wait instead of working, so that the numbers depend on the schedule and not on the machine. The lower bound for any schedule with
 * this concurrency is the longest call, or the total waiting time divided by the concurrency.
 */

import type { Tool } from '../src/core/tool.ts'
import { query } from '../src/engine/query.ts'
import { ScriptedModel } from '../src/providers/scripted/scripted-model.ts'

interface Planned {
  readonly ms: number
  /** Files that the call reads, or the one that it writes. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

const PLACES = 5
const [seed = '1'] = process.argv.slice(2)
const random = generator(Number(seed))

const plans: Record<string, readonly Planned[]> = {
  '10 equal calls': many(10, () => call(20)),
  '20 calls of 5 to 60 ms': many(20, () => call(5 + random() * 55)),
  '20 calls, one of 200 ms': [call(200), ...many(19, () => call(20))],
  '20 reads, 5 writes of 3 files': many(25, (n) => call(20, n % 5 === 4 ? { writes: [file(3)] } : { reads: [file(3)] })),
  '12 writes of one file': many(12, () => call(10, { writes: ['a'] })),
}

console.log(
  `${'plan'.padEnd(32)} ${['serial', 'batches', 'station', 'bound'].map((name) => name.padStart(9)).join('')}   speed-up`,
)
for (const [name, plan] of Object.entries(plans)) {
  const serial = await timed(plan, 1)
  const station = await timed(plan, PLACES)
  const columns = [serial, batches(plan), station, bound(plan)].map((ms) => ms.toFixed(0).padStart(9))
  console.log(`${name.padEnd(32)} ${columns.join('')}   ${(serial / station).toFixed(2)}x`)
}

const overhead = await timed(
  many(1000, () => call(0)),
  PLACES,
)
console.log(`\nour own work: ${((overhead / 1000) * 1000).toFixed(0)} µs a call (1000 calls that do nothing, in one step)`)

async function timed(plan: readonly Planned[], toolConcurrency: number): Promise<number> {
  const work: Tool<{ n: number }> = {
    name: 'work',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    needsPermission: false,
    resources: ({ n }) => plan[n] ?? {},
    call: ({ n }) => {
      const ms = plan[n]?.ms ?? 0
      return ms === 0 ? 'done' : new Promise<string>((resolve) => setTimeout(() => resolve('done'), ms))
    },
  }
  const toolCalls = plan.map((_, n) => ({ id: `c${n}`, name: 'work', input: { n } }))
  const model = new ScriptedModel([{ toolCalls }, 'Done.'])
  let startedAt = 0
  let endedAt = 0
  for await (const event of query({ prompt: 'Go', model, tools: [work], toolConcurrency })) {
    if (event.type === 'tool_request' && startedAt === 0) startedAt = performance.now()
    if (event.type === 'tool_result') endedAt = performance.now()
  }
  return endedAt - startedAt
}

/** What fixed batches of so many calls take, each as long as its longest call; conflicts not even counted. */
function batches(plan: readonly Planned[]): number {
  let sum = 0
  for (let at = 0; at < plan.length; at += PLACES) sum += Math.max(...plan.slice(at, at + PLACES).map(({ ms }) => ms))
  return sum
}

function bound(plan: readonly Planned[]): number {
  const all = plan.map(({ ms }) => ms)
  return Math.max(...all, all.reduce((sum, ms) => sum + ms, 0) / PLACES)
}

function call(ms: number, { reads = [], writes = [] }: Partial<Planned> = {}): Planned {
  return { ms, reads, writes }
}

function many(count: number, make: (n: number) => Planned): Planned[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

function file(count: number): string {
  return `file:${Math.floor(random() * count)}`
}

/** Numbers from 0 to 1, the same for the same seed (Park and Miller's generator). */
function generator(start: number): () => number {
  let state = (Math.abs(Math.trunc(start)) % 2_147_483_646) + 1
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
