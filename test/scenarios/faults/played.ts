/** Plays turns of the public `query()` and checks the invariants of every turn. */

import { expect, vi } from 'vitest'
import { query } from '../../../src/app/query.ts'
import type { QueryOptions } from '../../../src/app/query.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { isTerminal } from '../../../src/core/event.ts'
import type { EventOf, QueryEvent } from '../../../src/core/event.ts'
import { foldEvents } from '../../../src/core/fold.ts'
import type { Folded } from '../../../src/core/fold.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Tool } from '../../../src/core/tool.ts'
import { SqliteRecorder } from '../../../src/recorders/sqlite/recorder.ts'
import { shownText } from '../../support/shown.ts'

/** Runs every mode of every fault at every event, which is too slow for the gate. */
export const FULL: boolean = process.env['FULL_FAULTS'] === '1'
if (FULL) vi.setConfig({ testTimeout: 180_000 })

export interface Played extends Folded {
  readonly events: readonly QueryEvent[]
  readonly last: QueryEvent
  of<Type extends QueryEvent['type']>(type: Type): EventOf<Type>[]
}

let recorder: SqliteRecorder | undefined
let turns = 0

/** Returns the number of turns that were played without a violation. */
export function played(): number {
  return turns
}

export async function journal(): Promise<SqliteRecorder> {
  return (recorder ??= await SqliteRecorder.open({ path: ':memory:' }))
}

/** Plays a turn to its end, or until `until` accepts an event, at which the reader leaves. */
export async function play(options: Partial<QueryOptions>, until?: (event: QueryEvent) => boolean): Promise<Played> {
  const events: QueryEvent[] = []
  const journalOfAll = await journal()
  const turn = query({
    prompt: 'What is the weather?',
    random: () => 0.5,
    recorder: journalOfAll,
    ...options,
    retry: { initialDelay: 0, ...options.retry },
  })
  let left = false
  for await (const event of turn) {
    events.push(event)
    left = !isTerminal(event) && until?.(event) === true
    if (left) break
  }
  const last = events.at(-1)
  if (last === undefined) throw new Error('The turn had no events.')
  checkEvents(events, left)
  await checkJournal(events, left, journalOfAll)
  turns++
  return {
    ...foldEvents(events),
    events,
    last,
    of: <Type extends QueryEvent['type']>(type: Type) => events.filter((event): event is EventOf<Type> => event.type === type),
  }
}

function checkEvents(events: readonly QueryEvent[], left: boolean): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  expect(JSON.parse(JSON.stringify(events))).toEqual(events)
  expect(events.filter(isTerminal)).toEqual(left ? [] : events.slice(-1))
  const last = events.at(-1)
  if (last?.type === 'complete') {
    expect(shownText(events)).toBe(last.result.text)
    expect(foldEvents(events).text).toBe(last.result.text)
  }
  for (const event of events) {
    if (left || event.type !== 'tool_request') continue
    const results = events.filter(
      (other) => other.type === 'tool_result' && other.step === event.step && other.result.id === event.tool.id,
    )
    expect(results).toHaveLength(1)
  }
}

/** Converts an event to its stored form: lone surrogates are shown unchanged, but stored as U+FFFD. */
function wellFormed(events: readonly QueryEvent[]): unknown {
  return JSON.parse(JSON.stringify(events, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)))
}

const STATES = { complete: 'done', cancelled: 'cancelled', error: 'failed' } as const

async function checkJournal(events: readonly QueryEvent[], left: boolean, { read }: SqliteRecorder): Promise<void> {
  const detail = read.turn(events[0]?.turnId ?? '')
  const stored = detail?.events ?? []
  expect(stored.slice(0, events.length)).toEqual(wellFormed(events))
  if (!left) expect(stored).toHaveLength(events.length)
  const last = stored.at(-1)
  if (last === undefined || !isTerminal(last)) throw new Error('The turn has no end in the journal.')
  if (left) expect(last.type).toBe('cancelled')
  expect(detail?.turn).toMatchObject({ status: STATES[last.type], text: foldEvents(stored).text })
  if (last.type === 'complete') expect(detail?.turn.usage).toEqual(last.result.usage)
  expect(detail?.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual(
    stored.flatMap((event) => (event.type === 'message' ? [event.message.content] : [])),
  )
}

export interface CountingTool {
  readonly tool: Tool
  /** Inputs of its runs. */
  readonly runs: Json[]
}

export function countingTool(name = 'get_weather'): CountingTool {
  const runs: Json[] = []
  const tool: Tool<Json> = {
    name,
    description: 'The weather of a city.',
    inputSchema: { type: 'object' },
    needsPermission: false,
    call: (input) => {
      runs.push(input)
      return `Result ${runs.length}.`
    },
  }
  return { runs, tool }
}

/** A clock that advances only when a test does it. A wait of 0 ends at once. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000
  readonly #sleepers = new Set<{ readonly due: number; readonly wake: () => void }>()
  /** Requested waits, in milliseconds. */
  readonly waits: number[] = []

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.waits.push(ms)
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    if (ms <= 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const sleeper = { due: this.#now + ms, wake: resolve }
      this.#sleepers.add(sleeper)
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleepers.delete(sleeper)
          reject(signal.reason)
        },
        { once: true },
      )
    })
  }

  advance(ms: number): void {
    this.#now += ms
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > this.#now) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }

  /** Pending waits. */
  get asleep(): number {
    return this.#sleepers.size
  }
}

/** Runs `work` for all items, a few at a time, and names those for which it failed. */
export async function forAll<T>(items: readonly T[], name: (item: T) => string, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await work(item)
      } catch (thrown) {
        if (thrown instanceof Error) thrown.message = `${name(item)}: ${thrown.message}`
        throw thrown
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
