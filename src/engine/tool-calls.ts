/** Tool calls without running them: which of them could be run? */

import type { Json } from '../core/json.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { Tool } from '../core/tool.ts'
import { fitted } from '../tools/prepare-call.ts'

export interface CheckedCalls {
  /** Their tools exist and their arguments fit; named as the tool is, with the input that its schema gives back. */
  readonly fitting: readonly ToolCallPart[]
  /** `invalid` says what is wrong with them. */
  readonly misfits: readonly ToolCallPart[]
}

/** Checks calls against the schemas of the tools, in the order of the calls. */
export async function checkedCalls(calls: readonly ToolCallPart[], tools: readonly Tool[]): Promise<CheckedCalls> {
  const fitting: ToolCallPart[] = []
  const misfits: ToolCallPart[] = []
  for (const call of calls) {
    const fit = await fitted(call, tools)
    if ('problem' in fit) misfits.push({ ...call, invalid: fit.problem })
    else fitting.push({ ...call, name: fit.tool.name, input: fit.input as Json })
  }
  return { fitting, misfits }
}
