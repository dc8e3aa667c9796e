/** Types a call on its way through the tools station, and the station's input. Each stage returns a new value; none changes a call. */

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
  /** Decisions about calls that waited for them, by call id. */
  readonly decided?: ReadonlyMap<string, Decided>
  /** Why no call can wait for a decision; `undefined`: they can. */
  readonly cannotWait: string | undefined
  readonly hooks: Hooks | undefined
  /** Mends a call that does not fit its schema; absent: the model is told. */
  readonly repair: RepairToolCall | undefined
  /** One call at a time, each asked about. */
  readonly safeMode: boolean
  /** Calls that run at the same time at most. */
  readonly concurrency: number
  readonly state: ToolsState
  /** Runs a step of a tool where turns that it makes belong to this one. */
  readonly inCall: <T>(frame: CallFrame, work: () => T) => T
}

/** What was decided about a call that waited. */
export interface Decided {
  /** The arguments that were shown to the one who decided: it counts for no others. */
  readonly input: Json
  readonly answer: PermissionAnswer
}

/** A tool call at work, as far as turns that it makes are concerned. */
export interface CallFrame {
  readonly callId: string
  /** Aborted when the tool has to stop. */
  readonly signal: AbortSignal
  /** Shows an event of such a turn; resolves when it was read. */
  forward(event: QueryEvent): Promise<void>
}

/** A call whose tool is known and whose input fits. */
export interface FittingCall {
  /** Its place among the calls of the step. */
  readonly index: number
  readonly call: ToolCallPart
  readonly tool: Tool
  /** The arguments as they came, or as a hook or the one who granted them changed them. */
  readonly given: Json
  /** The same, as the schema made it. */
  readonly input: unknown
  readonly footprint: Footprint
}

/** What became of a call. */
export interface Outcome {
  readonly result: ToolResult
  readonly attachments: readonly Attachment[]
}

/** The call did not run. */
export function notRun({ id, name }: ToolCallPart, content: string): Outcome {
  return { result: { id, name, content, isError: true, durationMs: 0 }, attachments: [] }
}
