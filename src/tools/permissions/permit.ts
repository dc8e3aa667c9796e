/** Asks for permission, and remembers the answers. */

import type { Station } from '../../core/context.ts'
import type { Json } from '../../core/json.ts'
import type { PermissionDecision, PermissionRequest } from '../../core/tool.ts'
import { takenValues } from '../../util/environment.ts'
import { canonicalJson } from '../../util/hash.ts'
import { orAborted } from '../../util/promise.ts'
import { redactJson } from '../../util/redact.ts'
import type { FittingCall, ToolsContext } from '../call.ts'
import { messageOf } from '../output.ts'
import { validated } from '../prepare-call.ts'
import { footprintOf } from '../schedule.ts'
import { callKey } from '../state.ts'
import { readAnswers } from './answers.ts'
import type { Answered } from './answers.ts'
import { decide } from './decide.ts'
import { decidedFor, granted, meant, refused } from './judge.ts'
import type { Asked, Reason, Settled } from './judge.ts'
import { readRule } from './rule-book.ts'
import { parseRule } from './rule.ts'
import { subjectsOf } from './subject.ts'

/** Asks about several calls at once, except calls that were decided while they waited. @returns a decision for each, in their order. */
export async function* ask(asked: readonly Asked[], ctx: ToolsContext): Station<readonly Settled[]> {
  const before = asked.map(({ fitting }) => decidedFor(fitting, ctx))
  const open = asked.filter((_, index) => before[index] === undefined).map(requestOf)
  if (open.length > 0) yield { type: 'permission_request', tools: open }
  const answers = open.length === 0 ? [] : await answersTo(open, ctx)
  const settled: Settled[] = []
  for (const [index, each] of asked.entries()) {
    settled.push(await settle(each, before[index] ?? answers.shift() ?? { granted: false }, ctx))
  }
  return settled
}

function requestOf({ fitting: { call, given }, reason }: Asked): PermissionRequest {
  return { id: call.id, name: call.name, input: given, reason }
}

/** Returns the reason why the call cannot wait for a decision; `undefined` when it can. */
export function cannotWait({ call, given }: FittingCall, ctx: ToolsContext): string | undefined {
  if (ctx.cannotWait !== undefined) return ctx.cannotWait
  const secrets = takenValues()
  const isKept = [call.input, given].every((input) => canonicalJson(redactJson(input, secrets)) === canonicalJson(input))
  return isKept ? undefined : 'Its arguments hold a secret, which the journal does not keep, so it cannot wait for a decision.'
}

/** Calls the permission checker. If it throws, all calls are refused. */
async function answersTo(
  requests: readonly PermissionRequest[],
  { permit, sessionId, turnId, signal, state }: ToolsContext,
): Promise<Answered[]> {
  if (permit === undefined) return requests.map(() => ({ granted: false, reason: 'No user is available to answer.' }))
  try {
    // A copy, so that a checker that changes the input does not change the history.
    const answers = Promise.resolve(permit(structuredClone(requests), { sessionId, turnId, signal, untrusted: state.untrusted }))
    return readAnswers(await orAborted(answers, signal), requests.length)
  } catch (thrown) {
    signal.throwIfAborted()
    return requests.map(() => ({ granted: false, reason: `The permission check failed: ${messageOf(thrown)}` }))
  }
}

async function settle(asked: Asked, answer: Answered, ctx: ToolsContext): Promise<Settled> {
  const { fitting, rule } = asked
  if (answer === 'wait') {
    const obstacle = cannotWait(fitting, ctx)
    return obstacle === undefined
      ? { verdict: 'wait', fitting, request: requestOf(asked) }
      : refused(fitting, { reason: obstacle, rule })
  }
  const isChanged = answer.granted && answer.input !== undefined
  const changed = isChanged ? await withInput(fitting, answer.input, ctx) : fitting
  if ('reason' in changed) return refused(fitting, changed)
  // Remembers the call with the input that was granted.
  await remember(changed, answer, ctx)
  return answer.granted
    ? granted(changed, { reason: answer.reason ?? 'Granted.', rule })
    : refused(fitting, { reason: answer.reason ?? 'The user refused it.', rule })
}

/** Checks an input that the permission answer changed: it must fit the schema, and no rule may deny it. */
async function withInput(fitting: FittingCall, given: Json, ctx: ToolsContext): Promise<FittingCall | Reason> {
  const { tool, call } = fitting
  const fit = await validated({ name: call.name, input: given }, tool)
  if ('problem' in fit) return { reason: `The changed input does not fit. ${fit.problem}` }
  const { input } = fit
  const book = await ctx.state.rules()
  const verdict = decide(meant(book.rules, tool), tool.name, await subjectsOf(tool, input, book.root))
  if (verdict?.verdict === 'deny') return { reason: `The input was changed. ${verdict.reason}`, rule: verdict.rule }
  return { ...fitting, given, input, footprint: footprintOf(tool, input) }
}

async function remember(
  { tool, given }: FittingCall,
  { granted, remember, rule }: PermissionDecision,
  { state }: ToolsContext,
): Promise<void> {
  if (remember !== 'session') return
  if (rule === undefined) {
    state.grants.calls.set(callKey(tool.name, given), { granted })
    return
  }
  const { root } = await state.rules()
  state.grants.rules.push(await readRule(parseRule(rule, granted ? 'allow' : 'deny'), root))
}
