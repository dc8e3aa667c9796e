/** May this call run? */

import type { Station } from '../core/context.ts'
import type { PermissionAnswer, PermissionDecision, ToolUse } from '../core/tool.ts'
import { orAborted } from '../util/abort.ts'
import type { PreparedCall, ToolsContext } from './call.ts'

export interface Verdict {
  readonly granted: boolean
  readonly reason: string
  /** What to run with, where it may run. */
  readonly input: unknown
}

export async function* permit({ call, tool, input }: PreparedCall, ctx: ToolsContext): Station<Verdict> {
  if (!asks(tool.needsPermission, input)) return { granted: true, reason: 'The tool needs no permission.', input }
  const request = { id: call.id, name: call.name, input: call.input }
  yield { type: 'permission_request', tools: [request] }
  const decision = ctx.permit === undefined ? NOBODY_TO_ASK : await ask(request, ctx)
  const reason = decision.reason ?? (decision.granted ? 'Granted.' : 'The user refused it.')
  yield { type: 'permission_decision', decisions: [{ id: call.id, granted: decision.granted, reason }] }
  return { granted: decision.granted, reason, input: decision.input ?? input }
}

const NOBODY_TO_ASK: PermissionDecision = { granted: false, reason: 'The tool needs permission and there is nobody to ask.' }

function asks(needsPermission: unknown, input: unknown): boolean {
  return typeof needsPermission === 'function' ? needsPermission(input) === true : needsPermission !== false
}

/** A checker that throws has not granted anything. */
async function ask(request: ToolUse, ctx: ToolsContext): Promise<PermissionDecision> {
  try {
    const { sessionId, turnId, signal } = ctx
    const answers = await orAborted(
      Promise.resolve(ctx.permit?.([request], { sessionId, turnId, signal, untrusted: false })),
      signal,
    )
    const answer: PermissionAnswer | undefined = Array.isArray(answers) ? answers[0] : (answers as PermissionAnswer | undefined)
    return typeof answer === 'object' ? answer : { granted: answer === true }
  } catch (thrown) {
    if (ctx.signal.aborted) throw ctx.signal.reason
    return { granted: false, reason: `The permission check failed: ${thrown instanceof Error ? thrown.message : String(thrown)}` }
  }
}
