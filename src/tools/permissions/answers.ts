/** Parses answers to permission requests. Anything but a clear yes is a refusal. */

import type { Json } from '../../core/json.ts'
import type { PermissionDecision } from '../../core/tool.ts'
import { parseRule } from './rule.ts'
import { messageOf, shortened } from '../output.ts'

/** Maximum characters of a reason, which the model reads. */
const MOST_REASON = 4000

/** The answer for a call; `wait`: the decision is made later. */
export type Answered = PermissionDecision | 'wait'

/** Returns an answer for each of `count` requests; a missing or unclear answer is a refusal. */
export function readAnswers(answers: unknown, count: number): Answered[] {
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
