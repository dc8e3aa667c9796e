/** Properties that hold for any tool calls, through the public `query()`. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { all, calling, idsOf, resultsSentTo } from '../../test/calls.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Tool } from '../core/tool.ts'
import { query } from '../engine/query.ts'
import type { ScriptedModel } from '../providers/scripted/scripted-model.ts'

interface Planned {
  readonly reads: readonly number[]
  readonly writes: readonly number[]
  readonly needsPermission: boolean
  readonly granted: boolean
  readonly declared: boolean
  readonly readOnly: boolean
  readonly turns: number
  readonly fails: boolean
}

const planned: fc.Arbitrary<Planned> = fc.record({
  reads: fc.uniqueArray(fc.nat(3), { maxLength: 2 }),
  writes: fc.uniqueArray(fc.nat(3), { maxLength: 2 }),
  needsPermission: fc.boolean(),
  granted: fc.boolean(),
  declared: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  readOnly: fc.boolean(),
  turns: fc.nat(4),
  fails: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
})

interface Trace {
  readonly begins: number
  readonly ends: number
}

/** Runs the plan on four cells; every call appends the values that it has read to the cells that it writes. */
async function runPlan(
  plan: readonly Planned[],
  limit: number,
  abortAfter: number | null,
): Promise<{ events: QueryEvent[]; traces: Map<number, Trace>; most: number; model: ScriptedModel; cells: string[] }> {
  const cells = ['', '', '', '']
  const traces = new Map<number, Trace>()
  let time = 0
  let running = 0
  let most = 0
  const of = ({ n }: Record<string, unknown>): Planned => plan[n as number] as Planned
  const call = async (input: Record<string, unknown>): Promise<string> => {
    const { reads, writes, turns, fails } = of(input)
    const begins = time++
    most = Math.max(most, ++running)
    const seen = reads.map((cell) => cells[cell]).join('|')
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    for (const cell of writes) cells[cell] = `${cells[cell]}(${String(input['n'])}:${seen})`
    running--
    traces.set(input['n'] as number, { begins, ends: time++ })
    if (fails) throw new Error(`failed, having seen ${seen}`)
    return `saw ${seen}`
  }
  const cellNames = (list: readonly number[]): string[] => list.map((cell) => `cell:${cell}`)
  const base = {
    description: '',
    inputSchema: { type: 'object' },
    needsPermission: (input: Record<string, unknown>) => of(input).needsPermission,
    call,
  }
  const tools: Tool[] = [
    {
      name: 'declared',
      ...base,
      resources: (input: Record<string, unknown>) => ({ reads: cellNames(of(input).reads), writes: cellNames(of(input).writes) }),
    },
    { name: 'reader', ...base, isReadOnly: true },
    { name: 'silent', ...base },
  ]
  const nameOf = ({ declared, readOnly, writes }: Planned): string =>
    declared ? 'declared' : readOnly && writes.length === 0 ? 'reader' : 'silent'
  const model = calling(plan.map((each, n) => ({ id: `c${n}`, name: nameOf(each), input: { n } })))
  const controller = new AbortController()
  const events: QueryEvent[] = []
  for await (const event of query({
    model,
    prompt: 'Go',
    tools,
    toolConcurrency: limit,
    abortSignal: controller.signal,
    hasPermissionsToUseTool: async (requests) => {
      await new Promise((resolve) => setImmediate(resolve))
      return requests.map(({ input }) => of(input as Record<string, unknown>).granted)
    },
  })) {
    events.push(event)
    if (abortAfter !== null && events.length > abortAfter) controller.abort()
  }
  return { events, traces, most, model, cells }
}

const runs = (each: Planned): boolean => !each.needsPermission || each.granted

function conflicts(a: Planned, b: Planned): boolean {
  const writer = (each: Planned): boolean => !each.declared && !(each.readOnly && each.writes.length === 0)
  if (writer(a) || writer(b)) return true
  const reads = (each: Planned): readonly number[] => (each.declared ? each.reads : [0, 1, 2, 3])
  const meet = (some: readonly number[], others: readonly number[]): boolean => some.some((cell) => others.includes(cell))
  return meet(a.writes, b.writes) || meet(a.writes, reads(b)) || meet(reads(a), b.writes)
}

/** Returns whether the first of two conflicting calls must run first. A call that may have waited blocks only declared resources. */
const bound = (earlier: Planned, later: Planned): boolean => !earlier.needsPermission || (earlier.declared && later.declared)

describe('any plan of calls', () => {
  it('ENG-TOOL-002 ENG-TOOL-003 runs as some serial order would, within the limit, with one result each and messages in call order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 4 }), async (plan, limit) => {
        const { events, traces, most, model, cells } = await runPlan(plan, limit, null)
        expect(most).toBeLessThanOrEqual(limit)
        expect(idsOf(events).toSorted()).toEqual(plan.map((_, n) => `c${n}`).toSorted())
        expect(resultsSentTo(model).map(([id]) => id)).toEqual(plan.map((_, n) => `c${n}`))
        expect(new Set(traces.keys())).toEqual(new Set([...plan.keys()].filter((n) => runs(plan[n] as Planned))))

        for (const [n, trace] of traces) {
          for (const [m, other] of traces) {
            const [a, b] = [plan[n] as Planned, plan[m] as Planned]
            if (n >= m || !conflicts(a, b)) continue
            expect(trace.ends < other.begins || other.ends < trace.begins).toBe(true)
            if (bound(a, b)) expect(trace.ends).toBeLessThan(other.begins)
          }
        }

        // The same calls, run serially in the order of their start, read and write the same values.
        const replay = ['', '', '', '']
        const contents = new Map(resultsSentTo(model))
        for (const [n] of [...traces].toSorted(([, a], [, b]) => a.begins - b.begins)) {
          const each = plan[n] as Planned
          const seen = each.reads.map((cell) => replay[cell]).join('|')
          for (const cell of each.writes) replay[cell] = `${replay[cell]}(${n}:${seen})`
          expect(contents.get(`c${n}`)).toContain(`${each.fails ? 'having seen' : 'saw'} ${seen}`.trimEnd())
        }
        expect(cells).toEqual(replay)
      }),
      { numRuns: 400 },
    )
  })

  it('ENG-ERR-001 loses no finished result when it is aborted at any point', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(planned, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(30),
        async (plan, limit, abortAfter) => {
          const { events, traces } = await runPlan(plan, limit, abortAfter)
          const requested = all(events, 'tool_request').map(({ tool }) => tool.id)
          expect(idsOf(events).toSorted()).toEqual(requested.toSorted())
          for (const { result } of all(events, 'tool_result')) {
            const ran = traces.has(Number(result.id.slice(1)))
            if (ran) expect(result.content).toMatch(/saw|having seen/)
            else expect(result.content).toMatch(/^Not run|^Permission denied|^Cancelled before it began/)
          }
          const seqs = events.map(({ seq }) => seq)
          expect(seqs).toEqual(seqs.map((_, index) => index))
        },
      ),
      { numRuns: 300 },
    )
  })
})
