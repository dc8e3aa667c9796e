/** Tells whether a tool has changed since it was allowed. */

import type { Tool } from '../core/tool.ts'
import { decide } from './rules/decide.ts'
import type { ReadRule } from './rules/rule-book.ts'
import type { Subject } from './rules/subject.ts'

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
