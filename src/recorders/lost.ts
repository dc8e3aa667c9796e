/** Reads from the stored events how far a turn came whose process ended early. */

import { ERROR_CODES } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import type { BotIdentity, EventBody, EventOf, EventStamp, QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import { addUsage, UNKNOWN_USAGE } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { elapsed } from '../util/clock.ts'

export interface LostTurn {
  readonly turnId: string
  readonly sessionId: string
  readonly model: string
  readonly bot: BotIdentity | null
  readonly startedAt: number
  /** The process that ran it, in words. */
  readonly owner: string
  /** Calls that were about to have their effect and have no result: the key of each. */
  readonly startedCalls: ReadonlyMap<string, string>
}

export interface Ending {
  /** What is missing for a stream that ends well: results of open calls, and the terminal event. */
  readonly events: readonly QueryEvent[]
  readonly text: string
  readonly usage: Usage
  /** US dollars, of the calls that were reported; `null` when one of them, or all, are unknown. */
  readonly costUsd: number | null
  readonly error: ErrorInfo
  /** The last sign of life. */
  readonly endedAt: number
}

/** `now` is the time at which somebody noticed. */
export function endLostTurn(turn: LostTurn, events: readonly QueryEvent[], now: number): Ending {
  const last = events.at(-1)
  const endedAt = last?.at ?? turn.startedAt
  const error: ErrorInfo = {
    code: 'turn_lost',
    message: `The process that ran this turn (${turn.owner}) ended before the turn did. What it had written until then was kept.`,
    ...ERROR_CODES.turn_lost,
  }
  const bodies: [step: number, body: EventBody][] = []
  if (last === undefined) {
    bodies.push([0, { type: 'start', model: turn.model, ...(turn.bot === null ? {} : { bot: turn.bot }) }])
  }
  for (const { step, tool, at } of openRequests(events)) {
    const idempotencyKey = turn.startedCalls.get(tool.id)
    const started = idempotencyKey !== undefined
    const content = started
      ? 'Interrupted: the process ended while this tool ran. Its effects are unknown: it may have had all of them, some, or none.'
      : 'Not run: the process ended before this tool was started.'
    const durationMs = started ? elapsed(at, endedAt) : 0
    const known = { id: tool.id, name: tool.name, content, isError: true, durationMs }
    const result = started ? { ...known, unknownEffects: { idempotencyKey } } : known
    bodies.push([step, { type: 'tool_result', result }])
  }
  bodies.push([last?.step ?? 0, { type: 'error', error }])

  const firstSeq = last === undefined ? 0 : last.seq + 1
  const at = Math.max(now, endedAt)
  const missing = bodies.map(([step, body], index) => {
    const stamp: EventStamp = { sessionId: turn.sessionId, turnId: turn.turnId, step, seq: firstSeq + index, at }
    return { ...body, ...stamp }
  })
  return { events: missing, text: foldEvents(events).text, usage: lostUsage(events), costUsd: lostCost(events), error, endedAt }
}

/** Requests without a result, in order. An id may come again in a later step, when its first call has been answered. */
function openRequests(events: readonly QueryEvent[]): EventOf<'tool_request'>[] {
  const open = new Map<string, EventOf<'tool_request'>>()
  for (const event of events) {
    if (event.type === 'tool_request') open.set(event.tool.id, event)
    else if (event.type === 'tool_result') open.delete(event.result.id)
  }
  return [...open.values()]
}

/**
 * The sum of what was reported. Where a model call may have been under way, whose tokens nobody reported, the sum is a lower bound and
 * marked as an estimate; where nothing was reported at all, it is unknown.
 */
function lostUsage(events: readonly QueryEvent[]): Usage {
  const reports = events.filter((event) => event.type === 'usage')
  const lastReport = reports.at(-1)
  if (lastReport === undefined) return UNKNOWN_USAGE
  const sum = reports.map((event) => event.usage).reduce(addUsage)
  return sum.exactness === 'exact' && callUnderWay(events, lastReport.step) ? { ...sum, exactness: 'estimated' } : sum
}

function lostCost(events: readonly QueryEvent[]): number | null {
  const costs = events.flatMap((event) => (event.type === 'usage' ? [event.costUsd ?? null] : []))
  return costs.length === 0 ? null : costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0)
}

/** After the report of a step come its tools, and when all of them have answered, the next call leaves. */
function callUnderWay(events: readonly QueryEvent[], reported: number): boolean {
  if (events.some((event) => event.step > reported)) return true
  const hadTools = events.some((event) => event.type === 'tool_request' && event.step === reported)
  return hadTools && openRequests(events).length === 0
}
