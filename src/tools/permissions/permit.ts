/** Decides about calls: lets the rules decide, asks for permission where they leave it open, and keeps the answer. */

import type { Station } from '../../core/context.ts'
import type { EventOf, NoticeEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { Confinement, PermissionDecision, PermissionRequest, Tool } from '../../core/tool.ts'
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
import { decide, exactRule, nearMiss } from './decide.ts'
import { changedSince, judge } from './judge.ts'
import { readRule } from './rule-book.ts'
import type { ReadRule } from './rule-book.ts'
import { meansVersion, parseRule } from './rule.ts'
import { subjectsOf } from './subject.ts'
import type { Subject } from './subject.ts'

type Decision = EventOf<'permission_decision'>['decisions'][number]

/** What was decided about a call. Nothing has happened yet: whoever runs the step applies it. */
export type Settled =
  | Granted
  | { readonly verdict: 'refuse'; readonly fitting: FittingCall; readonly decision: Decision }
  /** The answer comes later, perhaps in another process. */
  | { readonly verdict: 'wait'; readonly fitting: FittingCall; readonly request: PermissionRequest }

interface Granted {
  readonly verdict: 'run'
  /** With the input that was granted. */
  readonly fitting: FittingCall
  /** `undefined` where there was nothing to decide. */
  readonly decision: Decision | undefined
  readonly notice: NoticeEvent | undefined
}

/** A call that somebody has to be asked about. */
export interface Asked {
  readonly verdict: 'ask'
  readonly fitting: FittingCall
  readonly reason: string
  /** The rule that asks. */
  readonly rule?: string
}

interface Reason {
  readonly reason: string
  readonly rule?: string | undefined
}

function granted(fitting: FittingCall, because: Reason, isSilent = false): Granted {
  return {
    verdict: 'run',
    fitting,
    decision: isSilent ? undefined : decision(fitting, true, because),
    notice: pin(fitting.tool),
  }
}

function refused(fitting: FittingCall, because: Reason): Settled {
  return { verdict: 'refuse', fitting, decision: decision(fitting, false, because) }
}

function decision({ call: { id } }: FittingCall, isGranted: boolean, { reason, rule }: Reason): Decision {
  return { id, granted: isGranted, reason, ...(rule === undefined ? {} : { rule }) }
}

/** @param period see `repeatedPeriod`. */
export async function judgeCall(fitting: FittingCall, period: number | undefined, ctx: ToolsContext): Promise<Settled | Asked> {
  const { tool, input, call, given } = fitting
  const { state, safeMode, permit } = ctx
  const decided = decidedFor(fitting, ctx)
  const book = await state.rules()
  const subjects = await subjectsOf(tool, input, book.root)
  const rules = meant(book.rules, tool)
  const confinement = (await tool.confinement?.()) ?? { confined: false }
  const judgement = judge({
    needsPermission: needsPermission(fitting),
    safeMode,
    canAsk: permit !== undefined || decided !== undefined,
    rule: decide(rules, tool.name, subjects, confinement),
    nearMiss: confinement.confined ? undefined : nearMiss(rules, tool.name, subjects),
    suggestion: exactRule(tool.name, subjects),
    remembered: remembered(fitting, subjects, ctx, confinement),
    period,
    unsettled: (tool.isIdempotent ?? tool.isReadOnly) !== true && state.unsettled.has(callKey(call.name, given)),
    changed: changedSince(tool, rules, subjects),
    untrusted: book.afterUntrusted === 'ask' && state.untrusted && tool.isReadOnly !== true,
  })
  const { verdict, reason, rule, silent } = judgement
  if (verdict === 'refuse') return refused(fitting, judgement)
  if (verdict === 'ask') return { verdict, fitting, reason, ...(rule === undefined ? {} : { rule }) }
  // What was refused while it waited must not run because rules have changed.
  if (decided !== undefined) return { verdict: 'ask', fitting, reason: 'It waited for a decision.' }
  return granted(fitting, judgement, silent)
}

/** The call is allowed. @returns what is to be told when that cannot be kept. */
function pin({ name, pin: kept }: Tool): NoticeEvent | undefined {
  try {
    kept?.allow()
    return undefined
  } catch (thrown) {
    const message = `${name} was allowed, but that cannot be kept, so it will be asked about again: ${messageOf(thrown)}`
    return { type: 'notice', code: 'pin_not_kept', message }
  }
}

function meant(rules: readonly ReadRule[], { pin }: Tool): readonly ReadRule[] {
  return rules.filter((rule) => meansVersion(rule, pin?.fingerprint))
}

/** Only a plain `false` means that nobody has to be asked. */
function needsPermission({ tool, input }: FittingCall): boolean {
  try {
    const { needsPermission } = tool
    // The input was checked against the tool's own schema.
    return (typeof needsPermission === 'function' ? needsPermission(input as never) : needsPermission) !== false
  } catch {
    return true
  }
}

function remembered(
  { tool, given }: FittingCall,
  subjects: readonly Subject[],
  { state: { grants } }: ToolsContext,
  confinement: Confinement,
): Pick<PermissionDecision, 'granted'> | undefined {
  const call = grants.calls.get(callKey(tool.name, given))
  if (call !== undefined) return call
  const verdict = decide(meant(grants.rules, tool), tool.name, subjects, confinement)?.verdict
  return verdict === 'allow' || verdict === 'deny' ? { granted: verdict === 'allow' } : undefined
}

/** Asks about several calls at once, except those that were decided while they waited. One decision for each, in their order. */
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

/** What was decided about exactly this call while it waited. */
function decidedFor({ call, given }: FittingCall, { decided }: ToolsContext): Answered | undefined {
  const found = decided?.get(call.id)
  if (found === undefined || canonicalJson(found.input) !== canonicalJson(given)) return undefined
  return readAnswers([found.answer], 1)[0]
}

/** Why the call cannot be taken up later; `undefined`: it can. */
export function cannotWait({ call, given }: FittingCall, ctx: ToolsContext): string | undefined {
  if (ctx.cannotWait !== undefined) return ctx.cannotWait
  const secrets = takenValues()
  const isKept = [call.input, given].every((input) => canonicalJson(redactJson(input, secrets)) === canonicalJson(input))
  return isKept ? undefined : 'Its arguments hold a secret, which the journal does not keep, so it cannot wait for a decision.'
}

/** A checker that throws has not granted anything. */
async function answersTo(
  requests: readonly PermissionRequest[],
  { permit, sessionId, turnId, signal, state }: ToolsContext,
): Promise<Answered[]> {
  if (permit === undefined) return requests.map(() => ({ granted: false, reason: 'There is nobody to ask.' }))
  try {
    // A copy: what the one who is asked does with the input changes no history.
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
  // Also what was changed: this very call, as it was granted.
  await remember(changed, answer, ctx)
  return answer.granted
    ? granted(changed, { reason: answer.reason ?? 'Granted.', rule })
    : refused(fitting, { reason: answer.reason ?? 'The user refused it.', rule })
}

/** The one who granted the call changed its input: that has to fit as well, and no prohibition may meet it. */
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
