/** Schedules the calls of a step: selects calls that may start, and runs them concurrently. Conflicting calls run one after the other, in call order. */

import type { Tool, ToolResources } from '../core/tool.ts'
import { isRecord } from '../util/check.ts'
import { ignoreRejection, isPromise } from '../util/promise.ts'
import { Mailbox } from './work.ts'

/** The resources that a call reads and writes. */
export interface Footprint {
  /** `everything`: a read-only tool that does not declare its resources. */
  readonly reads: readonly string[] | 'everything'
  readonly writes: readonly string[]
  /** The tool declared these resources. */
  readonly declared: boolean
  /** The tool declared nothing, so it runs alone. */
  readonly alone: boolean
}

/** `asking`: the decision about the call is still open. */
export type Phase = 'asking' | 'ready' | 'running' | 'over'

export interface Scheduled {
  readonly phase: Phase
  readonly footprint: Footprint
}

/**
 * Returns the calls to start, in call order, when at most `limit` run at a time. Of two conflicting calls, the later waits for
 * the earlier.
 *
 * A call that waits for permission blocks only calls whose declared resources conflict with its own: an answer may take hours.
 * The call itself waits for all conflicting calls, so that they never run together.
 */
export function startable<Call extends Scheduled>(calls: readonly Call[], limit: number): Call[] {
  const running = calls.filter(({ phase }) => phase === 'running')
  const starting: Call[] = []
  const before: Call[] = []
  for (const call of calls) {
    if (running.length + starting.length >= limit) break
    if (call.phase === 'over' || call.phase === 'running') continue
    const holds = (other: Call): boolean => conflict(other.footprint, call.footprint)
    if (call.phase === 'ready' && !running.some(holds) && !before.some((other) => waitsFor(call, other))) starting.push(call)
    before.push(call)
  }
  return starting
}

function waitsFor(call: Scheduled, earlier: Scheduled): boolean {
  if (earlier.phase === 'asking' && !(earlier.footprint.declared && call.footprint.declared)) return false
  return conflict(earlier.footprint, call.footprint)
}

/** Returns the footprint of a call. A tool whose `resources` throws counts as a tool that does not declare any. */
export function footprintOf(tool: Tool, input: unknown): Footprint {
  const resources = declaredResources(tool, input)
  if (resources !== undefined) return { ...resources, declared: true, alone: false }
  return { reads: 'everything', writes: [], declared: false, alone: tool.isReadOnly !== true }
}

function declaredResources(tool: Tool, input: unknown): Required<ToolResources> | undefined {
  try {
    // The schema of the tool checked the input.
    const said: unknown = tool.resources?.(input as never)
    // Ignores a promise, which may reject, a list, or a name in place of a list of names.
    ignoreRejection(said)
    if (!isRecord(said) || isPromise(said)) return undefined
    const { reads = [], writes = [] } = said
    return isNames(reads) && isNames(writes) ? { reads, writes } : undefined
  } catch {
    return undefined
  }
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

/** Returns true when either call writes a resource that the other reads or writes. */
function conflict(a: Footprint, b: Footprint): boolean {
  return a.alone || b.alone || overlap(a.writes, b.writes) || overlap(b.reads, a.writes) || overlap(a.reads, b.writes)
}

function overlap(some: Footprint['reads'], writes: readonly string[]): boolean {
  if (some === 'everything') return writes.length > 0
  return some.some((name) => writes.some((other) => sameOrInside(name, other) || sameOrInside(other, name)))
}

/** Compares two resources; a name that ends in `/` covers everything below it. */
function sameOrInside(name: string, other: string): boolean {
  return name === other || (other.endsWith('/') && (name.startsWith(other) || `${name}/` === other))
}

type Source<T> = AsyncGenerator<T, void, undefined>

type Arrival<T> =
  | { readonly source: Source<T>; readonly result: IteratorResult<T, void> }
  | { readonly source: Source<T>; readonly thrown: unknown }

/**
 * Runs sources concurrently and yields their values as they arrive. `next` returns the sources to start; it is called at the
 * beginning and whenever a source has ended, and limits the concurrency. The generator ends when no source runs and `next` returns
 * no more.
 *
 * A source continues only when the reader has asked for the value after its last one: an event announced before an effect is
 * stored when the effect begins. When a source throws, or the reader leaves, the others are returned and awaited.
 */
export async function* sideBySide<T>(next: () => Iterable<Source<T>>): AsyncGenerator<T, void, undefined> {
  const running = new Set<Source<T>>()
  const arrived = new Mailbox<Arrival<T>>()
  const advance = (source: Source<T>): void => {
    running.add(source)
    source.next().then(
      (result) => arrived.post({ source, result }),
      (thrown: unknown) => arrived.post({ source, thrown }),
    )
  }
  try {
    for (const source of next()) advance(source)
    while (running.size > 0) {
      const arrival = await arrived.take()
      if ('thrown' in arrival) {
        running.delete(arrival.source)
        throw arrival.thrown
      }
      if (arrival.result.done === true) {
        running.delete(arrival.source)
        for (const source of next()) advance(source)
      } else {
        yield arrival.result.value
        advance(arrival.source)
      }
    }
  } finally {
    await Promise.allSettled([...running].map((source) => source.return()))
  }
}
