/** A call on its way through the station, and what the station is given. */

import type { StationContext } from '../core/context.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { PermissionChecker, Tool } from '../core/tool.ts'

export interface ToolsContext extends StationContext {
  readonly step: number
  readonly tools: readonly Tool[]
  readonly permit: PermissionChecker | undefined
}

/** A call that may run: its tool is known and its input fits. */
export interface PreparedCall {
  readonly call: ToolCallPart
  readonly tool: Tool
  readonly input: unknown
}
