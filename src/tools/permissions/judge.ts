/** Decides whether a call runs, is refused, or needs an answer of the user. Has no effects: `run.ts` applies the decision. */

import type { EventOf, NoticeEvent } from '../../core/event.ts'
import type { Confinement, PermissionDecision, PermissionRequest, Tool } from '../../core/tool.ts'
import { canonicalJson } from '../../util/hash.ts'
import type { Decided, FittingCall, ToolsContext } from '../call.ts'
import { messageOf } from '../output.ts'
import { callKey } from '../state.ts'
import { decide, exactRule, nearMiss } from './decide.ts'
import type { ReadRule } from './rule-book.ts'
import { meansVersion } from './rule.ts'
import { subjectsOf } from './subject.ts'
import type { Subject } from './subject.ts'

type Decision = EventOf<'permission_decision'>['decisions'][number]

export type Settled = Granted | Refused | Waiting

interface Granted {
  readonly verdict: 'run'
  /** The call, with the granted input. */
  readonly fitting: FittingCall
  /** `undefined` when no decision was needed. */
  readonly decision: Decision | undefined
  readonly notice: NoticeEvent | undefined
}

interface Refused {
  readonly verdict: 'refuse'
  readonly fitting: FittingCall
  readonly decision: Decision
  /** Set if the call was refused only because nothing could answer. */
  readonly notice: NoticeEvent | undefined
}

/** A call whose answer arrives later, possibly in another process. */
interface Waiting {
  readonly verdict: 'wait'
  readonly fitting: FittingCall
  readonly request: PermissionRequest
}

/** A call that needs an answer from the user. */
export interface Asked {
  readonly verdict: 'ask'
  readonly fitting: FittingCall
  readonly reason: string
  /** The rule that requires the answer. */
  readonly rule: string | undefined
}

export interface Reason {
  readonly reason: string
  readonly rule?: string | undefined
}

export function granted(fitting: FittingCall, because: Reason, isSilent = false): Granted {
  const reported = isSilent ? undefined : decision(fitting, true, because)
  return { verdict: 'run', fitting, decision: reported, notice: pin(fitting.tool) }
}

export function refused(fitting: FittingCall, because: Reason, notice?: NoticeEvent): Refused {
  return { verdict: 'refuse', fitting, decision: decision(fitting, false, because), notice }
}

function decision({ call: { id } }: FittingCall, isGranted: boolean, { reason, rule }: Reason): Decision {
  return { id, granted: isGranted, reason, ...(rule === undefined ? {} : { rule }) }
}

/** Pins the version of the tool that was allowed. @returns a notice when the pin cannot be stored. */
function pin({ name, pin: kept }: Tool): NoticeEvent | undefined {
  try {
    kept?.allow()
    return undefined
  } catch (thrown) {
    const message = `${name} was allowed, but the permission cannot be stored, so it will be asked for again: ${messageOf(thrown)}`
    return { type: 'notice', code: 'pin_not_kept', message }
  }
}

/** Tells the caller how to permit the tool: the model alone receives the refusal. @param isDefault no rule and no check asks for permission. */
function unanswered({ tool: { name } }: FittingCall, isDefault: boolean): NoticeEvent {
  const remedy = isDefault
    ? 'set needsPermission: false, pass rules, or pass hasPermissionsToUseTool'
    : 'pass hasPermissionsToUseTool'
  const message = `${name} needs permission, and nothing in this turn can give it: ${remedy}.`
  return { type: 'notice', code: 'permission_unanswered', message, details: { tool: name } }
}

/**
 * Applies the first condition that holds. Refuses a call that needs an answer when no user can answer.
 *
 * @param period number of steps that the model repeats, see `repeatedPeriod`; `undefined` without a repetition.
 */
export async function judgeCall(fitting: FittingCall, period: number | undefined, ctx: ToolsContext): Promise<Settled | Asked> {
  const { tool, input, call, given } = fitting
  const { state, safeMode, permit } = ctx
  const decided = decidedFor(fitting, ctx)
  const canAsk = permit !== undefined || decided !== undefined
  const book = await state.rules()
  const subjects = await subjectsOf(tool, input, book.root)
  const rules = meant(book.rules, tool)
  const confinement = (await tool.confinement?.()) ?? { confined: false }
  const rule = decide(rules, tool.name, subjects, confinement)
  const before = remembered(fitting, subjects, ctx, confinement)
  const run = (because: Reason, isSilent = false): Settled | Asked =>
    // The decision about a call that waited applies, also when rules that would allow the call have changed since.
    decided === undefined ? granted(fitting, because, isSilent) : ask('It waited for a decision.')
  const ask = (reason: string, by?: string, isDefault = false): Settled | Asked =>
    canAsk
      ? { verdict: 'ask', fitting, reason, rule: by }
      : refused(fitting, { reason: `${reason} No user is available to answer.`, rule: by }, unanswered(fitting, isDefault))
  const suggesting = (reason: string): string => {
    const exact = canAsk ? undefined : exactRule(tool.name, subjects)
    return exact === undefined ? reason : `${reason} The rule ${JSON.stringify(exact)} would allow it.`
  }

  if (rule?.verdict === 'deny') return refused(fitting, rule)
  if (before?.granted === false) return refused(fitting, { reason: 'It was refused for this session.' })
  if (period !== undefined) return ask(repetition(period))
  if (safeMode && canAsk) return ask('In safe mode every call is asked about.')
  if ((tool.isIdempotent ?? tool.isReadOnly) !== true && state.unsettled.has(callKey(call.name, given)))
    return ask('The same call was interrupted before, and its effects are unknown.')
  const changed = changedSince(tool, rules, subjects)
  if (changed !== undefined) return ask(changed)
  if (before?.granted === true && !safeMode) return run({ reason: 'It was allowed for this session.' })
  if (rule?.verdict === 'ask') return ask(rule.rule === undefined ? suggesting(rule.reason) : rule.reason, rule.rule)
  if (book.afterUntrusted === 'ask' && state.untrusted && tool.isReadOnly !== true)
    return ask('The model has read text that may not come from you, and this call has effects.')
  if (rule?.verdict === 'allow') return run(rule)
  if (needsPermission(fitting) || safeMode) {
    const near = confinement.confined ? undefined : nearMiss(rules, tool.name, subjects)
    return ask(suggesting(near ?? 'The tool needs permission.'), undefined, !safeMode)
  }
  return run({ reason: 'The tool needs no permission.' }, true)
}

/** Returns the decision about exactly this call that was made while it waited. */
export function decidedFor({ call, given }: FittingCall, { decided }: ToolsContext): Decided | undefined {
  const found = decided?.get(call.id)
  return found !== undefined && canonicalJson(found.input) === canonicalJson(given) ? found : undefined
}

/** Returns the rules that apply to the current version of a tool. */
export function meant(rules: readonly ReadRule[], { pin }: Tool): readonly ReadRule[] {
  return rules.filter((rule) => meansVersion(rule, pin?.fingerprint))
}

/** Returns true unless `needsPermission` is or returns exactly `false`. */
function needsPermission({ tool, input }: FittingCall): boolean {
  try {
    const { needsPermission } = tool
    // The schema of the tool checked the input.
    return (typeof needsPermission === 'function' ? needsPermission(input as never) : needsPermission) !== false
  } catch {
    return true
  }
}

/** Returns the decision about the same call earlier in the session. */
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

function repetition(period: number): string {
  const what = period === 1 ? 'The same call was' : `The same ${period} steps were`
  return `${what} made three times in a row; the outcome will not change.`
}

/** Digits of a fingerprint in a rule, enough to distinguish versions. */
const SHOWN = 12

/**
 * Explains how to allow a tool that has changed since it was allowed. Returns `undefined` when it has not changed, or when a rule
 * with its current fingerprint covers the call.
 *
 * @param rules rules that apply to the current version.
 */
function changedSince({ name, pin }: Tool, rules: readonly ReadRule[], subjects: readonly Subject[]): string | undefined {
  const allowed = pin?.allowed()
  if (pin === undefined || allowed === undefined || allowed === pin.fingerprint) return undefined
  const ofThisVersion = rules.filter(({ fingerprint }) => fingerprint !== undefined)
  if (decide(ofThisVersion, name, subjects)?.verdict === 'allow') return undefined
  return `The description or the arguments of this tool have changed since it was allowed; the rule "${name}#${pin.fingerprint.slice(0, SHOWN)}" allows it as it is now.`
}
