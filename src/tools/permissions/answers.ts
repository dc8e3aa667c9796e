/** Reads the answer to a permission request. Only a clear yes is one. */

import type { Json } from '../../core/json.ts'
import type { PermissionDecision } from '../../core/tool.ts'
import { parseRule } from './rule.ts'
import { messageOf, shortened } from '../output.ts'

/** Characters of a reason, which the model reads. */
const MOST_REASON = 4000

/** What was said of a call. */
export type Answered = PermissionDecision | 'wait'

/** One answer for each of `count` requests; what is missing or unclear is a refusal. */
export function readAnswers(answers: unknown, count: number): Answered[] {
  if (Array.isArray(answers)) return Array.from({ length: count }, (_, index) => readAnswer(answers[index], false))
  return Array.from({ length: count }, () => readAnswer(answers, count > 1))
}

/** @param forAll the answer was given for several calls at once. */
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
    return { granted: false, reason: 'A changed input was granted for several calls at once: it takes one decision for each.' }
  }
  const changed = granted === true ? asJson(input) : undefined
  if (granted === true && input !== undefined && changed === undefined) {
    return { granted: false, reason: 'The changed input that was granted is no JSON, and cannot be written down.' }
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

/** As it will stand in the journal; `undefined` for what cannot. */
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
