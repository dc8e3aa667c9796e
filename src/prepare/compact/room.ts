/** Computes the room of a request, and when a conversation must be compacted. */

import { ConfigurationError } from '../../core/error.ts'
import type { CallSettings, ModelFacts } from '../../core/model.ts'

/** When a conversation is compacted, and how far. */
export interface CompactionOptions {
  /** Share of the context window that the next request may fill; default 0.8. */
  readonly at?: number
  /** Share of the window that is left filled; default 0.5. */
  readonly to?: number
  /** Turns before the present one that are kept word for word where they fit; default 2. */
  readonly keepTurns?: number
  /** Tokens of input and output together, where you know better than the catalogue of models. Of `model`, not of its fallbacks. */
  readonly window?: number
}

export const DEFAULT_COMPACTION: Required<Omit<CompactionOptions, 'window'>> = { at: 0.8, to: 0.5, keepTurns: 2 }

const OUTPUT_RESERVE = 4096

/** Tokens of the window that are kept for the answer; never more than half of it. */
export function outputReserve(
  { maxOutputTokens }: Pick<CallSettings, 'maxOutputTokens'>,
  facts: Pick<ModelFacts, 'maxOutputTokens'>,
  window: number,
): number {
  if (maxOutputTokens !== undefined) return Math.min(maxOutputTokens, window / 2)
  return Math.min(facts.maxOutputTokens ?? OUTPUT_RESERVE, OUTPUT_RESERVE, window / 4)
}

/** @throws ConfigurationError that names the field, what was expected and what came. */
export function checkCompaction({ at, to, keepTurns, window }: CompactionOptions): void {
  const share = (name: string, value: number | undefined, below: number): void => {
    if (value === undefined || (value > 0 && value <= below)) return
    throw new ConfigurationError(
      `\`context.compaction.${name}\` must be a share of the window between 0 and ${below}, but is ${String(value)}.`,
    )
  }
  const whole = (name: string, value: number | undefined, least: number): void => {
    if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return
    throw new ConfigurationError(
      `\`context.compaction.${name}\` must be a whole number of at least ${least}, but is ${String(value)}.`,
    )
  }
  share('at', at, 1)
  share('to', to, at ?? DEFAULT_COMPACTION.at)
  whole('keepTurns', keepTurns, 0)
  whole('window', window, 1)
}
