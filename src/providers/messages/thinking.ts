/** Sets how much a model of Anthropic is asked to think: a budget, an effort, or nothing. */

import type { JsonObject } from '../../core/json.ts'
import type { ThinkingEffort } from '../../core/model.ts'
import type { EncodeInput } from '../api.ts'
import type { Turn } from '../conversation/conversation.ts'
import { ADAPTIVE_THINKING, CANNOT_BE_SWITCHED_OFF } from '../facts-table.ts'
import { asObject } from '../wire/json.ts'

/** Anthropic takes no smaller budget for thinking. */
const LEAST_BUDGET = 1024
/** What is left for the answer itself at least, as a part of the limit. */
const ANSWER_SHARE = 0.2
/** The budget as a part of what the model can write at most. */
const BUDGETS: Readonly<Record<Exclude<ThinkingEffort, 'off'>, number>> = { low: 0.1, medium: 0.3, high: 0.6 }

export interface Thinking {
  /** The member `thinking` of the request. */
  readonly thinking?: JsonObject
  readonly effort?: string
}

/**
 * @param limit of the output, thinking included: where no room is left for a budget, the model answers without.
 * @param given what the caller has to say to Anthropic alone; it wins.
 */
export function thinkingOf(input: EncodeInput, turns: readonly Turn[], limit: number, given: JsonObject | undefined): Thinking {
  const { model, request, facts, warn } = input
  const wanted = given === undefined ? ofEffort(model, request.thinking, facts.maxOutputTokens ?? limit) : { thinking: given }
  const budget = wanted.thinking?.['budget_tokens']
  if (wanted.thinking?.['type'] !== 'enabled' || typeof budget !== 'number') return wanted
  const dropped = whyNot(turns, request.toolChoice)
  if (dropped !== undefined) {
    warn(`${model} answers without thinking: ${dropped}.`)
    return {}
  }
  const fitting = Math.min(budget, Math.floor(limit * (1 - ANSWER_SHARE)))
  return fitting < LEAST_BUDGET ? {} : { thinking: { ...wanted.thinking, budget_tokens: fitting } }
}

function ofEffort(model: string, effort: ThinkingEffort | undefined, most: number): Thinking {
  if (effort === undefined) return {}
  const always = CANNOT_BE_SWITCHED_OFF.find(({ models }) => models.test(model))
  if (effort === 'off') {
    if (always === undefined) return { thinking: { type: 'disabled' } }
    return always.thinking === null ? { effort: 'low' } : { thinking: { type: always.thinking } }
  }
  if (ADAPTIVE_THINKING.test(model)) return { thinking: { type: 'adaptive', display: 'summarized' }, effort }
  return { thinking: { type: 'enabled', budget_tokens: Math.max(LEAST_BUDGET, Math.round(most * BUDGETS[effort])) } }
}

/** Anthropic refuses to think on where a tool loop was begun without thinking, by another model for example, and where a call is forced. */
function whyNot(turns: readonly Turn[], choice: EncodeInput['request']['toolChoice']): string | undefined {
  if (choice === 'required' || asObject(choice) !== undefined) return 'a tool call is forced'
  const last = turns.findLast(({ role }) => role !== 'tool')
  if (last?.role !== 'assistant' || last.parts.every(({ type }) => type !== 'tool-call')) return undefined
  return last.parts[0]?.type === 'thinking' ? undefined : 'the calls before were made without it'
}
