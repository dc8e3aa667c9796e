/** Decides whether a call runs, is refused, or needs an answer from the user. */

import type { PermissionDecision, Tool } from '../../core/tool.ts'
import { decide } from './decide.ts'
import type { RuleVerdict } from './decide.ts'
import type { ReadRule } from './rule-book.ts'
import type { Subject } from './subject.ts'

export interface Case {
  /** What the tool says of itself. */
  readonly needsPermission: boolean
  /** Every call is asked about. */
  readonly safeMode: boolean
  readonly canAsk: boolean
  /** What the rules say. */
  readonly rule: RuleVerdict | undefined
  /** Why a rule that looks as if it allowed the call does not. */
  readonly nearMiss: string | undefined
  /** The rule that would allow exactly this call, where one can be written. */
  readonly suggestion?: string | undefined
  /** What was said about the same earlier in the session. */
  readonly remembered: Pick<PermissionDecision, 'granted'> | undefined
  /** Set when the model goes round in a circle of so many steps. */
  readonly period: number | undefined
  /** The same call was interrupted earlier, nobody knows what it did, and a second time may do harm. */
  readonly unsettled: boolean
  /** Set when the tool is not what it was when it was allowed: how to allow it as it is now. */
  readonly changed: string | undefined
  /** The call follows text that is not the user's, has effects, and the policy is to ask then. */
  readonly untrusted: boolean
}

export interface Judgement {
  readonly verdict: 'run' | 'refuse' | 'ask'
  readonly reason: string
  readonly rule?: string | undefined
  /** There was nothing to decide. */
  readonly silent?: boolean
}

/** The first line that applies decides. What would be asked is refused where nobody can answer. */
export function judge(given: Case): Judgement {
  const { rule, remembered, safeMode, canAsk } = given
  const because = (reason: string): string =>
    given.suggestion === undefined || canAsk ? reason : `${reason} The rule ${JSON.stringify(given.suggestion)} would allow it.`
  if (rule?.verdict === 'deny') return { verdict: 'refuse', reason: rule.reason, rule: rule.rule }
  if (remembered?.granted === false) return { verdict: 'refuse', reason: 'It was refused for this session.' }
  if (given.period !== undefined) return ask(repetition(given.period), canAsk)
  if (safeMode && canAsk) return ask('In safe mode every call is asked about.', canAsk)
  if (given.unsettled) return ask('The same call was interrupted before, and its effects are unknown.', canAsk)
  if (given.changed !== undefined) return ask(given.changed, canAsk)
  if (remembered?.granted === true && !safeMode) return { verdict: 'run', reason: 'It was allowed for this session.' }
  if (rule?.verdict === 'ask') return ask(rule.rule === undefined ? because(rule.reason) : rule.reason, canAsk, rule.rule)
  if (given.untrusted) return ask('The model has read text that may not come from you, and this call has effects.', canAsk)
  if (rule?.verdict === 'allow') return { verdict: 'run', reason: rule.reason, rule: rule.rule }
  if (given.needsPermission || safeMode) return ask(because(given.nearMiss ?? 'The tool needs permission.'), canAsk)
  return { verdict: 'run', reason: 'The tool needs no permission.', silent: true }
}

function ask(reason: string, canAsk: boolean, rule?: string): Judgement {
  return canAsk ? { verdict: 'ask', reason, rule } : { verdict: 'refuse', reason: `${reason} There is nobody to ask.`, rule }
}

function repetition(period: number): string {
  const what = period === 1 ? 'The same call was' : `The same ${period} steps were`
  return `${what} made three times in a row; the outcome will not change.`
}

/** Enough of a fingerprint to tell two versions apart in a rule. */
const SHOWN = 12

/**
 * Says how a tool can be allowed that has changed since it was; `undefined` when it has not, or when a rule that names its present
 * fingerprint covers the call.
 *
 * @param rules those that mean the present version.
 */
export function changedSince(tool: Tool, rules: readonly ReadRule[], subjects: readonly Subject[]): string | undefined {
  const { name, pin } = tool
  const allowed = pin?.allowed()
  if (pin === undefined || allowed === undefined || allowed === pin.fingerprint) return undefined
  const ofThisVersion = rules.filter(({ fingerprint }) => fingerprint !== undefined)
  if (decide(ofThisVersion, name, subjects)?.verdict === 'allow') return undefined
  return `The description or the arguments of this tool have changed since it was allowed; the rule "${name}#${pin.fingerprint.slice(0, SHOWN)}" allows it as it is now.`
}
