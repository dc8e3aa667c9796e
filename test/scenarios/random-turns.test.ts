/**
 * Plays random turns with aborts, pauses, faults, fallbacks, steering, nested turns, readers that leave, and processes that die. In every case, each
 * turn has one end, no row stays open, each call has one result, and no tool runs twice for one call.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CriaError } from '../../src/core/error.ts'
import { isTerminal } from '../../src/core/event.ts'
import type { QueryEvent } from '../../src/core/event.ts'
import type { Tool } from '../../src/core/tool.ts'
import { query } from '../../src/engine/query.ts'
import { Steering } from '../../src/engine/steering.ts'
import { ScriptedModel } from '../../src/providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../../src/providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { free, tool } from '../calls.ts'

const RUNS = 500

const fault = fc.constantFrom(
  new CriaError('network', 'Down.'),
  new CriaError('overloaded', 'Busy.'),
  new CriaError('context_length', 'Too long.'),
  new CriaError('auth', 'No key.'),
  new Error('Something else.'),
)
const answer: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ text: fc.array(fc.constantFrom('a', 'b ', 'c'), { maxLength: 4 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      toolCalls: fc.array(
        fc.record({
          id: fc.constantFrom('x', 'y', 'z'),
          name: fc.constantFrom('quick', 'slow', 'throws', 'asked', 'nested', 'none'),
          input: fc.record({ n: fc.nat(3) }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ text: fc.constant(['half', 'whole']), fail: fc.record({ after: fc.nat(3), error: fault }) }),
  },
  { weight: 1, arbitrary: fc.record({ text: fc.constant(['half', 'whole']), hang: fc.record({ after: fc.nat(2) }) }) },
  { weight: 1, arbitrary: fc.record({ text: fc.constant('cut'), finish: fc.constantFrom('length' as const, null) }) },
)
const at = fc.option(fc.nat(20), { nil: undefined, freq: 2 })
const turn = fc.record({
  scripts: fc.array(fc.array(answer, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
  fallbackTakesTools: fc.boolean(),
  safeMode: fc.boolean(),
  maxSteps: fc.integer({ min: 1, max: 5 }),
  timeLimit: fc.constantFrom(null, 15, 400),
  toolChoice: fc.constantFrom('auto' as const, 'required' as const),
  pauseAt: at,
  steerAt: at,
  abortAt: at,
  leaveAt: fc.option(fc.nat(20), { nil: undefined, freq: 4 }),
  killAt: fc.option(fc.nat(20), { nil: undefined, freq: 4 }),
})
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never

/** Number of runs of each call, by its idempotency key. */
type Ran = Map<string, number>

function tools(ran: Ran): readonly Tool[] {
  const counted = (key: string): void => void ran.set(key, (ran.get(key) ?? 0) + 1)
  return [
    tool('quick', ({ n }, ctx) => (counted(ctx.idempotencyKey), `did ${String(n)}`), free),
    tool('slow', async function* (_input, ctx) {
      counted(ctx.idempotencyKey)
      for (let part = 0; part < 3; part++) {
        await setImmediate()
        yield `part ${part}`
      }
      return 'done'
    }),
    tool('throws', (_input, ctx) => {
      counted(ctx.idempotencyKey)
      throw new Error('No.')
    }),
    tool('asked', (_input, ctx) => (counted(ctx.idempotencyKey), 'allowed'), { needsPermission: true }),
    tool('nested', async (_input, ctx) => {
      counted(ctx.idempotencyKey)
      const model = new ScriptedModel([{ toolCalls: [{ name: 'quick', input: {} }] }, 'Inner.'])
      const quick = tool('quick', (_given, inner) => (counted(inner.idempotencyKey), 'inner'))
      for await (const event of query({ model, prompt: 'Inner?', tools: [quick] })) if (isTerminal(event)) return event.type
      return 'left'
    }),
  ]
}

async function play(plan: Turn, recorder: SqliteRecorder, ran: Ran, steering: Steering): Promise<readonly QueryEvent[]> {
  const controller = new AbortController()
  const models = plan.scripts.map((script, index) => {
    const facts = index > 0 && !plan.fallbackTakesTools ? { tools: false } : {}
    // A script that is over ends the turn with an error, which is an end as well.
    return new ScriptedModel(script, { ref: `model/${index}`, facts })
  })
  const [model, ...fallbackModels] = models as [ScriptedModel, ...ScriptedModel[]]
  const seen: QueryEvent[] = []
  const events = query({
    model,
    fallbackModels,
    prompt: 'Go',
    sessionId: 'session',
    recorder,
    tools: tools(ran),
    toolChoice: plan.toolChoice,
    safeMode: plan.safeMode,
    maxSteps: plan.maxSteps,
    steering,
    abortSignal: controller.signal,
    hasPermissionsToUseTool: (requests) => requests.map((_, index) => index % 2 === 0),
    retry: { maxRetries: 1, initialDelay: 0 },
    // What hangs is given up in any case.
    timeouts: { idle: 40, firstToken: 40, turn: plan.timeLimit },
  })
  for await (const event of events) {
    seen.push(event)
    const index = seen.length - 1
    if (index === plan.steerAt) {
      steering.steer('Mind the gap.')
      steering.followUp('And then?')
    }
    if (index === plan.pauseAt) await sleep(5)
    if (index === plan.abortAt) controller.abort()
    if (index === plan.leaveAt) break
    if (index === plan.killAt) {
      // As if the process had ended: reading and writing stop.
      await recorder.close()
      controller.abort()
      break
    }
  }
  // Nothing of ours runs any more.
  expect(models.map(({ open }) => open)).toEqual(models.map(() => 0))
  return seen
}

function checkEvents(events: readonly QueryEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  const ends = events.filter(isTerminal)
  expect(ends).toEqual([events.at(-1)])
  const ids = (type: 'tool_request' | 'tool_result'): string[] =>
    events.flatMap((event) =>
      event.type !== type
        ? []
        : event.type === 'tool_request'
          ? [`${event.step} ${event.tool.id}`]
          : event.type === 'tool_result'
            ? [`${event.step} ${event.result.id}`]
            : [],
    )
  expect(ids('tool_result').toSorted()).toEqual(ids('tool_request').toSorted())
}

test(`ENG-ERR-001 ENG-TOOL-003 ${RUNS} random turns each come to one end`, { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-random-'))
  const path = join(folder, 'cria.db')
  const keeper = await SqliteRecorder.open({ path })
  await fc.assert(
    fc.asyncProperty(turn, async (plan) => {
      const ran: Ran = new Map()
      const steering = new Steering()
      const recorder = await SqliteRecorder.open({ path })
      const seen = await play(plan, recorder, ran, steering)
      const own = seen.filter(({ parent }) => parent === undefined)
      const wasReadToTheEnd = seen.some(isTerminal)
      if (wasReadToTheEnd && plan.killAt === undefined) checkEvents(own)
      await recorder.close()

      await keeper.sweep()
      expect(keeper.read.turns({ status: 'open' }).turns).toEqual([])
      // The turn, and those that its tools have made.
      for (const { turnId } of keeper.read.turns({ limit: 6 }).turns) checkEvents(keeper.read.events(turnId))
      for (const [, times] of ran) expect(times).toBe(1)
      // What was shown is what is stored.
      const stored = keeper.read.events(own[0]?.turnId ?? '')
      const shown = own.filter(({ seq }) => seq < stored.length)
      if (plan.killAt === undefined) expect(stored.slice(0, shown.length)).toEqual(shown)
    }),
    { numRuns: RUNS },
  )
  await keeper.close()
  rmSync(folder, { recursive: true })
})
