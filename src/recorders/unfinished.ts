/**
 * Reconstructs an unfinished turn from its stored events and messages: the messages with which its session continues, in a form that
 * every provider accepts, and the end of a turn whose process has died.
 */

import { ERROR_CODES } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import type { BotIdentity, EventBody, EventOf, QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import { messageId } from '../core/id.ts'
import { fromParts, toolResult } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ToolResult } from '../core/tool.ts'
import { addUsage, UNKNOWN_USAGE } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { elapsed } from '../util/clock.ts'

/** Id that `foldEvents` assigns to a message built from deltas. */
const PARTIAL = 'partial'

const NOT_RUN: Pick<ToolResult, 'content' | 'isError' | 'unknownEffects'> = {
  content: 'Not run: the turn ended before this tool was started.',
  isError: true,
}

/**
 * Returns the messages of a turn with which its session continues. Empty for a turn without any answer: its question would precede the next
 * question directly, which providers refuse.
 *
 * @param messages of the turn, in order.
 * @param events of an unfinished turn, which may show more than its messages. Empty for a finished turn.
 */
export function spokenIn(turnId: string, messages: readonly Message[], events: readonly QueryEvent[]): Message[] {
  if (messages.length === 0) return []
  const shown = foldEvents(events)
  const spoken: Message[] = []
  // A summary belongs to the compacted conversation only.
  const said = withoutRejected(messages).filter((message) => message.retrieved === undefined && message.summary !== true)
  for (const [index, message] of said.entries()) {
    if (message.role === 'user') spoken.push(message)
    else if (message.role === 'assistant' && (message.content.trim() !== '' || message.toolCalls !== undefined)) {
      let next = index + 1
      while (said[next]?.role === 'tool') next += 1
      spoken.push(message, ...answersTo(message, said.slice(index + 1, next), turnId, shown.toolResults))
    }
  }
  if (shown.message?.id === PARTIAL && shown.text.trim() !== '')
    spoken.push(fromParts('assistant', [{ type: 'text', text: shown.text }], { id: `${turnId}_unfinished` }))
  return spoken.some((message) => message.role === 'assistant') ? spoken : []
}

/** Leaves out each rejected answer, and the message that rejected it. */
function withoutRejected(messages: readonly Message[]): readonly Message[] {
  return messages.filter(({ role, rejects }, at) => {
    const isRejected = role === 'assistant' && messages[at + 1]?.rejects === true
    return rejects !== true && !isRejected
  })
}

/** Returns one result per call, to be placed directly after the message, in the order of the calls: the stored or else the shown result. */
function answersTo(message: Message, written: readonly Message[], turnId: string, shown: readonly ToolResult[]): Message[] {
  return (message.toolCalls ?? []).map(({ id, name }) => {
    const answer = written.find(({ parts }) => parts.some((part) => part.type === 'tool-result' && part.id === id))
    if (answer !== undefined) return answer
    const { content, isError, unknownEffects } = shown.findLast((result) => result.id === id) ?? NOT_RUN
    const result = toolResult({ id, name, content, isError, ...(unknownEffects === undefined ? {} : { unknownEffects }) })
    return { ...result, id: messageId(`${turnId}_${id}`) }
  })
}

/**
 * Returns the compacted conversation without the question of a turn that never got an answer.
 *
 * @param own messages of the turn that compacted the conversation.
 */
export function compactedTo(messages: readonly Message[], own: readonly Pick<Message, 'id' | 'role'>[]): readonly Message[] {
  if (own.some(({ role }) => role === 'assistant')) return messages
  const asked = new Set(own.map(({ id }) => id))
  return messages.filter((message) => message.summary === true || !asked.has(message.id))
}

export interface LostTurn {
  readonly turnId: string
  readonly sessionId: string
  readonly model: string
  readonly bot: BotIdentity | null
  readonly startedAt: number
  /** Description of the process that ran the turn. */
  readonly owner: string
  /** Idempotency keys of started calls without a result, by call id. */
  readonly startedCalls: ReadonlyMap<string, string>
}

export interface Ending {
  /** The missing events of a complete stream: results of open calls, and the terminal event. */
  readonly events: readonly QueryEvent[]
  readonly text: string
  readonly usage: Usage
  /** US dollars of the reported model calls; `null` when the cost of a call, or of all, is unknown. */
  readonly costUsd: number | null
  readonly error: ErrorInfo
  /** Time of the last sign of life, epoch milliseconds. */
  readonly endedAt: number
}

const INTERRUPTED =
  'Interrupted: the process ended while this tool ran. Its effects are unknown: it may have had all of them, some, or none.'

/** @param now time at which the loss was noticed, epoch milliseconds. */
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
    const outcome =
      idempotencyKey !== undefined
        ? { content: INTERRUPTED, durationMs: elapsed(at, endedAt), unknownEffects: { idempotencyKey } }
        : { content: 'Not run: the process ended before this tool was started.', durationMs: 0 }
    bodies.push([step, { type: 'tool_result', result: { id: tool.id, name: tool.name, isError: true, ...outcome } }])
  }
  bodies.push([last?.step ?? 0, { type: 'error', error }])

  const firstSeq = last === undefined ? 0 : last.seq + 1
  const at = Math.max(now, endedAt)
  const { sessionId, turnId } = turn
  const missing = bodies.map(([step, body], index) => ({ ...body, sessionId, turnId, step, seq: firstSeq + index, at }))
  return { events: missing, text: foldEvents(events).text, usage: lostUsage(events), costUsd: lostCost(events), error, endedAt }
}

/** Returns requests without a result, in order. An id may occur again in a later step, after its first call was answered. */
function openRequests(events: readonly QueryEvent[]): EventOf<'tool_request'>[] {
  const open = new Map<string, EventOf<'tool_request'>>()
  for (const event of events) {
    if (event.type === 'tool_request') open.set(event.tool.id, event)
    else if (event.type === 'tool_result') open.delete(event.result.id)
  }
  return [...open.values()]
}

/**
 * Adds up the reported usage. Where a model call may have been under way, its tokens are unreported, so the sum is a lower bound,
 * marked as estimated; where nothing was reported, it is unknown.
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

/** Reports whether a model call may be under way: after a step's report, the next call is sent once all tools have answered. */
function callUnderWay(events: readonly QueryEvent[], reported: number): boolean {
  if (events.some((event) => event.step > reported)) return true
  const hadTools = events.some((event) => event.type === 'tool_request' && event.step === reported)
  return hadTools && openRequests(events).length === 0
}
