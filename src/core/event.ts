/**
 * The events of a turn: the only place where they are declared. Engine, bots, command line, server and page share them.
 *
 *     start ─► (notice | model_switch | retrieval)* ─► step* ─► notice* ─► complete | cancelled | error
 *     step  =  (steering | prepare_step)*  (text_delta | thinking | tool_input_delta | retry | reset | model_switch | compaction | notice)*
 *              usage  message  tools?
 *     tools =  tool_request+  (permission_request | permission_decision | tool_progress | tool_result | nested)*
 *     nested = any event of a turn that a tool has begun, marked with `parent`
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

/** Why another model answers than the one before. */
export const SWITCH_REASONS = ['context_too_large', 'rate_limited', 'model_unavailable', 'specialized_task', 'default'] as const
/** Why another model goes on. */
export type SwitchReason = (typeof SWITCH_REASONS)[number]

/** The bot that made a turn. */
export interface BotIdentity {
  /** Class of the bot: `QueryBot`. */
  readonly kind: string
  /** The name that its owner gave it. */
  readonly name?: string
}

/** The result of a turn. */
export interface QueryResult {
  /** The text of the last step. */
  readonly text: string
  /**
   * `max-steps` and `stop-when`: the turn was ended after the tools of a step, by `maxSteps` or `stopWhen`. `waiting`: calls wait for a
   * decision.
   */
  readonly finishReason: FinishReason | 'max-steps' | 'stop-when' | 'waiting'
  /** The calls that `query({ decide })` is to decide about; only with `finishReason: 'waiting'`. */
  readonly waiting?: readonly PermissionRequest[]
  /** Model calls of the turn. */
  readonly steps: number
  /** Tokens of all requests of the turn; what is not known is `null`. */
  readonly usage: Usage
  /** US dollars; `null` when the price of a model that was used is unknown. */
  readonly costUsd: number | null
  /** The model that gave the last answer. */
  readonly model: string
  /** Places in documents that the answer names; absent where no document was searched. */
  readonly citations?: readonly Citation[]
  /** Statements of an answer over documents that no marker speaks for. */
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
  /** The turn was begun by a tool of another one. */
  readonly calledBy?: CallRef
  /** The turn goes on with the calls of this one, which ended as `waiting`. */
  readonly decides?: string
}

export type ContentEvent =
  | { readonly type: 'text_delta'; readonly text: string; readonly attempt: number }
  | { readonly type: 'thinking'; readonly content: string; readonly attempt: number }
  /** The arguments of a call while they arrive, as the text of their JSON; void after a `reset`. Readers may leave it out. */
  | { readonly type: 'tool_input_delta'; readonly id: string; readonly name: string; readonly delta: string }
  /** The assembled assistant message of a step. */
  | { readonly type: 'message'; readonly message: Message }
  /** `costUsd`: of the same call in US dollars, `null` when its price is unknown. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly costUsd?: number | null }

/** A passage that a search has found, without its text. */
export type RetrievedRef = {
  /** The chunk. */
  readonly id: string
  /** The document, as the store names it. */
  readonly source: string
  /** UTF-16 offset in the text of the source. */
  readonly start: number
  /** UTF-16 offset behind the last character. */
  readonly end: number
  /** Higher is better; comparable within one search only. */
  readonly score: number
}

export type PreparationEvent =
  | { readonly type: 'retrieval'; readonly store: string; readonly query: string; readonly chunks: readonly RetrievedRef[] }
  | { readonly type: 'compaction'; readonly tokensBefore: number; readonly tokensAfter: number; readonly strategy: string }

export type RecoveryEvent =
  /** Attempt `attempt` failed; the next begins after `delay` milliseconds. */
  | { readonly type: 'retry'; readonly attempt: number; readonly delay: number; readonly error: ErrorInfo }
  /** Drop what this step has shown so far: attempt `attempt` is void. */
  | { readonly type: 'reset'; readonly attempt: number }
  | {
      readonly type: 'model_switch'
      readonly from: string
      readonly to: string
      readonly reason: SwitchReason
      /** The failure of `from`; absent where nothing failed. */
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

/** Something worth knowing that changes nothing: a history that was repaired, a callback that threw. */
export type NoticeEvent = {
  readonly type: 'notice'
  /** Tells notices apart, `left_out` for example. */
  readonly code: string
  /** The message, in one sentence. */
  readonly message: string
  /** More about it, as plain JSON. */
  readonly details?: JsonObject
}

export type SteeringEvent =
  /** A message that the user gave while the turn ran: the model is told before its next step, or (`follow_up`) it is said after the turn. */
  | { readonly type: 'steering'; readonly delivery: 'steer' | 'follow_up'; readonly message: Message }
  /** Changes that `prepareStep` made to this step alone. */
  | {
      readonly type: 'prepare_step'
      readonly model?: string
      readonly tools?: readonly string[]
      readonly toolChoice?: ToolChoice
      readonly system?: string
    }

/** A hook of the application has changed something, refused it, or failed. */
export type HookEvent = {
  readonly type: 'hook'
  readonly hook: HookName
  readonly outcome: 'changed' | 'refused' | 'failed'
  /** Id of the call that it is about. */
  readonly id?: string
  /** Why it refused, or how it failed. */
  readonly reason?: string
}

/** The choice between two answers, as `collectFeedback()` records it. */
export type FeedbackEvent = {
  readonly type: 'feedback'
  /** By the order in which they were shown. */
  readonly choice: 'first' | 'second' | 'none'
  /** Why neither was preferred. */
  readonly reason?: 'tie' | 'both_bad'
  /** Ids of turns. */
  readonly preferred: string | null
  /** The turn of the other answer; `null` where neither was preferred. */
  readonly rejected: string | null
  /** Why, in the words of the person who chose. */
  readonly comment?: string
}

/** The last event of a turn; there is exactly one. */
export type TerminalEvent =
  | {
      readonly type: 'error'
      /** Why the turn failed. */
      readonly error: ErrorInfo
    }
  /** `usage` and `costUsd` are those of the turn until then; absent in turns whose process died. */
  | {
      readonly type: 'cancelled'
      /** The cause of the cancellation. */
      readonly reason: string
      /** Tokens of the turn until then; absent in turns whose process died. */
      readonly usage?: Usage
      /** US dollars until then; `null`: not known. */
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
  /** The step it belongs to, from 1; 0 before the first step. */
  readonly step: number
  /** Number within the turn, from 0, without gaps. */
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  /**
   * The event is one of another turn, which a tool of this one has begun: it shows what that tool does, keeps the numbers of its own turn, and neither
   * ends this turn nor is part of its answer.
   */
  readonly parent?: CallRef
}

type Stamped<Body> = Body extends unknown ? Body & EventStamp : never
/** An event of a turn: its body by `type`, and the stamp that every event has. */
export type QueryEvent = Stamped<EventBody>
/** The event of one type: `EventOf<'tool_result'>`. */
export type EventOf<Type extends EventBody['type']> = Extract<QueryEvent, { type: Type }>

const TERMINAL = { complete: true, cancelled: true, error: true } as const

/** Tells whether an event ends its stream; the end of a nested turn does not. */
export function isTerminal<Event extends EventBody & { readonly parent?: CallRef }>(
  event: Event,
): event is Event & TerminalEvent {
  return event.type in TERMINAL && event.parent === undefined
}

/** Makes a `switch` over events exhaustive. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected: ${JSON.stringify(value)}`)
}
