/** Defines the input of the tools station, and a tool call at each stage. Stages return new values and do not change a call. */

import type { StationContext } from '../core/context.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Hooks } from '../core/hook.ts'
import type { Json } from '../core/json.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { PermissionAnswer, PermissionChecker, RepairToolCall, Tool, ToolResult } from '../core/tool.ts'
import type { Attachment } from './output.ts'
import type { Footprint } from './schedule.ts'
import type { ToolsState } from './state.ts'

export interface ToolsContext extends StationContext {
  readonly step: number
  readonly tools: readonly Tool[]
  readonly permit: PermissionChecker | undefined
  /** Decisions about calls that waited for permission, by call id. */
  readonly decided?: ReadonlyMap<string, Decided>
  /** The reason why calls cannot wait for a decision; `undefined` when they can. */
  readonly cannotWait: string | undefined
  readonly hooks: Hooks | undefined
  /** Repairs a call whose input does not fit the schema; when absent, the model receives the problem. */
  readonly repair: RepairToolCall | undefined
  /** Runs one call at a time and asks for permission for each. */
  readonly safeMode: boolean
  /** The maximum number of calls that run at the same time. */
  readonly concurrency: number
  readonly state: ToolsState
  /** Runs a step of a tool so that turns started in it are recorded as children of this turn. */
  readonly inCall: <T>(frame: CallFrame, work: () => T) => T
}

/** The decision about a call that waited. */
export interface Decided {
  /** The arguments that were shown for the decision; it does not apply to any others. */
  readonly input: Json
  readonly answer: PermissionAnswer
}

/** A running tool call, as seen by turns that the tool starts. */
export interface CallFrame {
  readonly callId: string
  /** Aborted when the tool has to stop. */
  readonly signal: AbortSignal
  /** Forwards an event of such a turn; resolves when the event was read. */
  forward(event: QueryEvent): Promise<void>
}

/** A call whose tool exists and whose input fits the schema. */
export interface FittingCall {
  /** Position among the calls of the step. */
  readonly index: number
  readonly call: ToolCallPart
  readonly tool: Tool
  /** The arguments as received, or as changed by a hook or by the permission answer. */
  readonly given: Json
  /** The arguments as the schema parsed them. */
  readonly input: unknown
  readonly footprint: Footprint
}

/** The result of a call. */
export interface Outcome {
  readonly result: ToolResult
  readonly attachments: readonly Attachment[]
}

/** Returns the error result of a call that did not run. */
export function notRun({ id, name }: ToolCallPart, content: string): Outcome {
  return { result: { id, name, content, isError: true, durationMs: 0 }, attachments: [] }
}
