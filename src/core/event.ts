/**
 * Declares the events of a turn, shared by engine, bots, command line and the code of callers.
 *
 *     start ─► (notice | model_switch | retrieval)* ─► step* ─► notice* ─► complete | cancelled | error
 *     step  =  (steering | prepare_step)*  (text_delta | thinking | tool_input_delta | retry | reset | model_switch | compaction | notice)*
 *              usage  message  tools?
 *     tools =  tool_request+  (permission_request | permission_decision | notice | tool_progress | tool_result | nested)*
 *     nested = any event of a turn that a tool started, marked with `parent`
 *
 * An event is plain JSON. Stations yield event *bodies*; the recorder tap stamps them. Exactly one terminal event ends every
 * stream, and every `tool_request` is followed by exactly one `tool_result` with the same id.
 */

import type { Citation } from './citation.ts'
import type { ErrorInfo } from './error.ts'
import type { HookName } from './hook.ts'
import type { JsonObject } from './json.ts'
import type { Message } from './message.ts'
import type { FinishReason, ToolChoice } from './model.ts'
import type { PermissionRequest, ToolResult, ToolUse } from './tool.ts'
import type { Usage } from './usage.ts'

/** The reasons for a switch to another model. */
export const SWITCH_REASONS = ['context_too_large', 'rate_limited', 'model_unavailable', 'specialized_task', 'default'] as const
/** The reason for a switch to another model. */
export type SwitchReason = (typeof SWITCH_REASONS)[number]

/** The bot that made a turn. */
export interface BotIdentity {
  /** Class of the bot: `QueryBot`. */
  readonly kind: string
  /** The name of this bot, as its owner chose it. */
  readonly name?: string
}

/** The result of a turn. */
export interface QueryResult {
  /** The text of the last step. */
  readonly text: string
  /**
   * `max-steps` and `stop-when`: `maxSteps` or `stopWhen` ended the turn after the tools of a step. `waiting`: tool calls wait for a
   * permission decision.
   */
  readonly finishReason: FinishReason | 'max-steps' | 'stop-when' | 'waiting'
  /** The calls that wait for `query({ decide })`; only with `finishReason: 'waiting'`. */
  readonly waiting?: readonly PermissionRequest[]
  /** Number of model calls of the turn. */
  readonly steps: number
  /** Tokens of all requests of the turn; unknown numbers are `null`. */
  readonly usage: Usage
  /** US dollars; `null` if the price of a model it used is unknown. */
  readonly costUsd: number | null
  /** The model of the last answer. */
  readonly model: string
  /** Places in documents that the answer cites; absent if no document was searched. */
  readonly citations?: readonly Citation[]
  /** Number of statements without a citation marker, in an answer over documents. */
  readonly uncited?: number
  /** The documents do not hold the answer, and the answer says so. */
  readonly abstained?: boolean
  /** The answer came from a cache. */
  readonly cacheHit: boolean
  /** The session of the turn. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** The trace that the spans of the turn belong to, 32 hexadecimal digits. */
  readonly traceId: string
}

/** The tool call that a turn was made in. */
export interface CallRef {
  /** The turn that made the call. */
  readonly turnId: string
  /** The call. */
  readonly callId: string
}

export type StartEvent = {
  readonly type: 'start'
  readonly model: string
  readonly bot?: BotIdentity
  /** The tool call of another turn that started this turn; absent for other turns. */
  readonly calledBy?: CallRef
  /** Id of the turn that ended as `waiting` and whose calls this turn continues. */
  readonly decides?: string
}

export type ContentEvent =
  | { readonly type: 'text_delta'; readonly text: string; readonly attempt: number }
  | { readonly type: 'thinking'; readonly content: string; readonly attempt: number }
  /** A piece of the JSON text of a call's arguments, as it arrives; void after a `reset`. Readers may ignore it. */
  | { readonly type: 'tool_input_delta'; readonly id: string; readonly name: string; readonly delta: string }
  /** The assembled assistant message of a step. */
  | { readonly type: 'message'; readonly message: Message }
  /** Usage of one model call; `costUsd` in US dollars, `null` if its price is unknown. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly costUsd?: number | null }

/** A chunk that a search found, without its text. */
export type RetrievedRef = {
  /** The chunk. */
  readonly id: string
  /** The document, as the store names it. */
  readonly source: string
  /** UTF-16 offset in the text of the source. */
  readonly start: number
  /** UTF-16 offset after the last character. */
  readonly end: number
  /** Higher is better; comparable only within one search. */
  readonly score: number
}

export type PreparationEvent =
  | { readonly type: 'retrieval'; readonly store: string; readonly query: string; readonly chunks: readonly RetrievedRef[] }
  | { readonly type: 'compaction'; readonly tokensBefore: number; readonly tokensAfter: number; readonly strategy: string }

export type RecoveryEvent =
  /** Attempt `attempt` failed; the next starts after `delay` milliseconds. */
  | { readonly type: 'retry'; readonly attempt: number; readonly delay: number; readonly error: ErrorInfo }
  /** Attempt `attempt` is void: discard the output of this step so far. */
  | { readonly type: 'reset'; readonly attempt: number }
  | {
      readonly type: 'model_switch'
      readonly from: string
      readonly to: string
      readonly reason: SwitchReason
      /** The failure of `from`; absent if nothing failed. */
      readonly error?: ErrorInfo
    }

export type ToolEvent =
  | { readonly type: 'tool_request'; readonly tool: ToolUse }
  | { readonly type: 'permission_request'; readonly tools: readonly PermissionRequest[] }
  | {
      readonly type: 'permission_decision'
      readonly decisions: readonly {
        readonly id: string
        readonly granted: boolean
        readonly reason: string
        readonly rule?: string
      }[]
    }
  | { readonly type: 'tool_progress'; readonly id: string; readonly content: string }
  | { readonly type: 'tool_result'; readonly result: ToolResult }

/** Information that does not change the turn, such as a repaired history or a callback that threw. */
export type NoticeEvent = {
  readonly type: 'notice'
  /** Code of the notice, `left_out` for example. */
  readonly code: string
  /** The message, in one sentence. */
  readonly message: string
  /** Further facts, as plain JSON. */
  readonly details?: JsonObject
}

export type SteeringEvent =
  /** A user message that arrived during the turn. `steer`: sent to the model before its next step; `follow_up`: sent after the turn. */
  | { readonly type: 'steering'; readonly delivery: 'steer' | 'follow_up'; readonly message: Message }
  /** Changes that `prepareStep` made to this step alone. */
  | {
      readonly type: 'prepare_step'
      readonly model?: string
      readonly tools?: readonly string[]
      readonly toolChoice?: ToolChoice
      readonly system?: string
    }

/** A hook of the application changed or refused something, or failed. */
export type HookEvent = {
  readonly type: 'hook'
  readonly hook: HookName
  readonly outcome: 'changed' | 'refused' | 'failed'
  /** Id of the tool call; absent for hooks that do not concern a call. */
  readonly id?: string
  /** Why the hook refused, or how it failed. */
  readonly reason?: string
}

/** The choice between two answers, as `collectFeedback()` records it. */
export type FeedbackEvent = {
  readonly type: 'feedback'
  /** The preferred answer, by the order in which both were shown. */
  readonly choice: 'first' | 'second' | 'none'
  /** Why neither was preferred. */
  readonly reason?: 'tie' | 'both_bad'
  /** The turn of the preferred answer; `null` if neither was preferred. */
  readonly preferred: string | null
  /** The turn of the other answer; `null` if neither was preferred. */
  readonly rejected: string | null
  /** Comment of the person who chose. */
  readonly comment?: string
}

/** The last event of a turn; there is exactly one. */
export type TerminalEvent =
  | {
      readonly type: 'error'
      /** Why the turn failed. */
      readonly error: ErrorInfo
    }
  /** The turn was cancelled; `usage` and `costUsd` cover it until then, and are absent if its process died. */
  | {
      readonly type: 'cancelled'
      /** The cause of the cancellation. */
      readonly reason: string
      /** Tokens of the turn until then; absent in turns whose process died. */
      readonly usage?: Usage
      /** US dollars until then; `null`: unknown. */
      readonly costUsd?: number | null
    }
  | {
      readonly type: 'complete'
      /** The result of the turn. */
      readonly result: QueryResult
    }

/** An event before it is stamped. */
export type EventBody =
  | StartEvent
  | ContentEvent
  | PreparationEvent
  | RecoveryEvent
  | ToolEvent
  | NoticeEvent
  | SteeringEvent
  | HookEvent
  | FeedbackEvent
  | TerminalEvent

/** Members that the recorder adds to every event. */
export interface EventStamp {
  /** The session of the turn. */
  readonly sessionId: string
  /** The turn. */
  readonly turnId: string
  /** The step of the event, from 1; 0 before the first step. */
  readonly step: number
  /** Number within the turn, from 0, without gaps. */
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  /**
   * Set on events of a nested turn, which a tool of this turn started. They keep the numbers of their own turn, and neither end this turn
   * nor belong to its answer.
   */
  readonly parent?: CallRef
}

type Stamped<Body> = Body extends unknown ? Body & EventStamp : never
/** An event of a turn: its body by `type`, and the stamp that every event has. */
export type QueryEvent = Stamped<EventBody>
/** The event of one type: `EventOf<'tool_result'>`. */
export type EventOf<Type extends EventBody['type']> = Extract<QueryEvent, { type: Type }>

const TERMINAL = { complete: true, cancelled: true, error: true } as const

/** Returns `true` for the event that ends its stream; the end of a nested turn does not. */
export function isTerminal<Event extends EventBody & { readonly parent?: CallRef }>(
  event: Event,
): event is Event & TerminalEvent {
  return event.type in TERMINAL && event.parent === undefined
}

/** Makes a `switch` over events exhaustive; throws if it is reached. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected: ${JSON.stringify(value)}`)
}
