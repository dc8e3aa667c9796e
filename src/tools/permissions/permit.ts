/** Asks for permission, parses the answers, of which anything but a clear yes is a refusal, and remembers them. */

import type { Station } from '../../core/context.ts'
import type { Json } from '../../core/json.ts'
import type { PermissionDecision, PermissionRequest } from '../../core/tool.ts'
import { takenValues } from '../../util/environment.ts'
import { canonicalJson } from '../../util/hash.ts'
import { orAborted } from '../../util/promise.ts'
import { redactJson } from '../../util/redact.ts'
import type { FittingCall, ToolsContext } from '../call.ts'
import { messageOf, shortened } from '../output.ts'
import { validated } from '../prepare-call.ts'
import { footprintOf } from '../schedule.ts'
import { callKey } from '../state.ts'
import { decide } from './decide.ts'
import { decidedFor, granted, meant, refused } from './judge.ts'
import type { Asked, Reason, Settled } from './judge.ts'
import { readRule } from './rule-book.ts'
import { parseRule } from './rule.ts'
import { subjectsOf } from './subject.ts'

/** Asks about several calls at once, except calls that were decided while they waited. @returns a decision for each, in their order. */
export async function* ask(asked: readonly Asked[], ctx: ToolsContext): Station<readonly Settled[]> {
  const before = asked.map(({ fitting }) => {
    const decided = decidedFor(fitting, ctx)
    return decided === undefined ? undefined : readAnswers([decided.answer], 1)[0]
  })
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

/** Maximum characters of a reason, which the model reads. */
const MOST_REASON = 4000

/** The answer for a call; `wait`: the decision is made later. */
type Answered = PermissionDecision | 'wait'

/** Returns an answer for each of `count` requests; a missing or unclear answer is a refusal. */
function readAnswers(answers: unknown, count: number): Answered[] {
  if (Array.isArray(answers)) return Array.from({ length: count }, (_, index) => readAnswer(answers[index], false))
  return Array.from({ length: count }, () => readAnswer(answers, count > 1))
}

/** @param forAll true when the answer is for several calls at once. */
function readAnswer(answer: unknown, forAll: boolean): Answered {
  if (answer === 'wait') return answer
  if (typeof answer === 'boolean') return { granted: answer }
  if (answer === undefined || answer === null) return { granted: false, reason: 'No answer was given for this call.' }
  if (typeof answer !== 'object') {
    return { granted: false, reason: `The permission check answered with ${typeof answer}, not with a decision.` }
  }
  const { granted, reason, input, remember, rule } = answer as Partial<PermissionDecision>
  const said = typeof reason === 'string' && reason !== '' ? { reason: shortened(reason, MOST_REASON) } : {}
  if (granted === true && input !== undefined && forAll) {
    return { granted: false, reason: 'A changed input was granted for several calls at once: send a decision for each call.' }
  }
  const changed = granted === true ? asJson(input) : undefined
  if (granted === true && input !== undefined && changed === undefined) {
    return { granted: false, reason: 'The changed input that was granted is not JSON, so it cannot be stored.' }
  }
  if (rule !== undefined && !isRule(rule)) {
    return { granted: false, reason: `The rule to remember cannot be read: ${messageOf(rule)}` }
  }
  return {
    granted: granted === true,
    ...said,
    ...(changed === undefined ? {} : { input: changed }),
    ...(remember === 'session' || remember === true ? { remember: 'session' as const } : {}),
    ...(rule === undefined ? {} : { rule }),
  }
}

/** Returns the value as the journal will store it; `undefined` when it cannot be stored. */
function asJson(value: unknown): Json | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined
    return text === undefined ? undefined : (JSON.parse(text) as Json)
  } catch {
    return undefined
  }
}

function isRule(rule: unknown): rule is string {
  try {
    return typeof rule === 'string' && parseRule(rule, 'allow') !== undefined
  } catch {
    return false
  }
}
