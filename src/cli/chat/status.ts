/** Formats the status line below the input: model, usage, and the share of the context window in use. */

import type { Usage } from '../../core/usage.ts'
import { visibleLine } from '../../util/terminal.ts'
import { formatCost } from '../format.ts'
import { fit } from '../../util/cells.ts'

/** The total usage of the turns of a session. */
export interface Spent {
  readonly turns: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars, of the turns whose cost is known. */
  readonly costUsd: number
  /** The tokens of some turn are unknown. */
  readonly hasUnknownTokens: boolean
  /** The cost of some turn is unknown. */
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
  /** Tokens of the last request and its answer; `null` when unknown. */
  readonly contextTokens: number | null
  /** Size of the context window in tokens; `null` when unknown. */
  readonly window: number | null
  readonly isSafe: boolean
}

/** Returns as many facts as fit into the columns, the most important first. */
export function statusLine({ model, spent, contextTokens, window, isSafe }: Status, columns: number): string {
  const facts = [visibleLine(model)]
  if (isSafe) facts.push('safe mode')
  const share = contextTokens === null || window === null ? undefined : Math.min(999, Math.round((contextTokens / window) * 100))
  if (spent.turns === 0) facts.push('/help lists commands and keys')
  if (share !== undefined) facts.push(`${share} % of context`)
  if (spent.turns > 0)
    facts.push(`${spent.hasUnknownTokens ? 'at least ' : ''}${formatTokens(spent.inputTokens + spent.outputTokens)}`)
  if (spent.turns > 0) facts.push(costOf(spent))
  while (facts.length > 1 && facts.join(' · ').length > columns) facts.pop()
  return fit(facts.join(' · '), columns)
}

/** Formats the known cost; `cost unknown` when no cost is known. */
export function costOf({ costUsd, hasUnknownCost }: Spent): string {
  if (!hasUnknownCost) return formatCost(costUsd)
  return costUsd === 0 ? 'cost unknown' : `at least ${formatCost(costUsd)}`
}

/** Formats a number of tokens: `950 tokens`, `12.3k tokens`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return `${tokens} tokens`
  if (tokens < 999_500) return `${(tokens / 1000).toFixed(tokens < 99_950 ? 1 : 0)}k tokens`
  return `${(tokens / 1_000_000).toFixed(1)}M tokens`
}
