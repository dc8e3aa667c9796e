/** Draws the line below the input: model, usage, and how full the conversation is. Pure. */

import type { Usage } from '../../core/usage.ts'
import { visibleLine } from '../../util/terminal.ts'
import { formatCost } from '../format.ts'
import { fit } from '../../util/cells.ts'

/** What the turns of a session have used together. */
export interface Spent {
  readonly turns: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars, of what has a known price. */
  readonly costUsd: number
  /** Nobody knows how many tokens some of it was. */
  readonly hasUnknownTokens: boolean
  /** Nobody knows what some of it costs. */
  readonly hasUnknownCost: boolean
}

export const NOTHING_SPENT: Spent = {
  turns: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  hasUnknownTokens: false,
  hasUnknownCost: false,
}

export function spentAfter(spent: Spent, usage: Usage, costUsd: number | null): Spent {
  const { inputTokens, outputTokens } = usage
  return {
    turns: spent.turns + 1,
    inputTokens: spent.inputTokens + (inputTokens ?? 0),
    outputTokens: spent.outputTokens + (outputTokens ?? 0),
    costUsd: spent.costUsd + (costUsd ?? 0),
    hasUnknownTokens: spent.hasUnknownTokens || inputTokens === null || outputTokens === null,
    hasUnknownCost: spent.hasUnknownCost || costUsd === null,
  }
}

export interface Status {
  readonly model: string
  readonly spent: Spent
  /** Tokens of the conversation as the last request and its answer held them; `null` when nobody knows. */
  readonly held: number | null
  /** Tokens that the model takes; `null` when nobody knows. */
  readonly window: number | null
  readonly isSafe: boolean
}

/** As much as fits, the most important first. */
export function statusLine({ model, spent, held, window, isSafe }: Status, columns: number): string {
  const facts = [visibleLine(model)]
  if (isSafe) facts.push('safe mode')
  const share = held === null || window === null ? undefined : Math.min(999, Math.round((held / window) * 100))
  if (spent.turns === 0) facts.push('/help tells what can be typed')
  if (share !== undefined) facts.push(`${share} % of context`)
  if (spent.turns > 0)
    facts.push(`${spent.hasUnknownTokens ? 'at least ' : ''}${formatTokens(spent.inputTokens + spent.outputTokens)}`)
  if (spent.turns > 0) facts.push(costOf(spent))
  while (facts.length > 1 && facts.join(' · ').length > columns) facts.pop()
  return fit(facts.join(' · '), columns)
}

/** What is known of the cost; a dash when nothing is. */
export function costOf({ costUsd, hasUnknownCost }: Spent): string {
  if (!hasUnknownCost) return formatCost(costUsd)
  return costUsd === 0 ? 'cost unknown' : `at least ${formatCost(costUsd)}`
}

/** `950 tokens`, `12.3k tokens`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return `${tokens} tokens`
  if (tokens < 999_500) return `${(tokens / 1000).toFixed(tokens < 99_950 ? 1 : 0)}k tokens`
  return `${(tokens / 1_000_000).toFixed(1)}M tokens`
}
