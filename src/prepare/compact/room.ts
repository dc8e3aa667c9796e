/** Computes how much of a context window each kind of text may take, and when a conversation must be compacted. */

import { ConfigurationError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import type { CallSettings, ModelFacts } from '../../core/model.ts'
import { GROUNDING_RULES } from '../compose.ts'
import { estimateMessageTokens, estimateTokens, offeredTokens } from '../tokens.ts'
import type { RequestOptions, TurnInput } from '../conversation.ts'

/** When a conversation is compacted, and how far. */
export interface CompactionOptions {
  /** Share of the context window that the next request may fill; default 0.8. */
  readonly at?: number
  /** Share of the window that is filled after compaction; default 0.5. */
  readonly to?: number
  /** Number of earlier turns kept unchanged, if they fit; default 2. */
  readonly keepTurns?: number
  /** Context window of `model` in tokens, overriding the model catalogue. Does not apply to fallback models. */
  readonly window?: number
}

export const DEFAULT_COMPACTION: Required<Omit<CompactionOptions, 'window'>> = { at: 0.8, to: 0.5, keepTurns: 2 }

const OUTPUT_RESERVE = 4096

/** Returns the tokens reserved for the answer, at most half of the window. */
export function outputReserve(
  { maxOutputTokens }: Pick<CallSettings, 'maxOutputTokens'>,
  facts: Pick<ModelFacts, 'maxOutputTokens'>,
  window: number,
): number {
  if (maxOutputTokens !== undefined) return Math.min(maxOutputTokens, window / 2)
  return Math.min(facts.maxOutputTokens ?? OUTPUT_RESERVE, OUTPUT_RESERVE, window / 4)
}

/** @throws ConfigurationError that names the field, the expected and the received value. */
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

type Said = Pick<TurnInput, 'system' | 'history' | 'messages'>
type Asked = Pick<RequestOptions, 'settings' | 'tools' | 'responseFormat'>
type Limits = Pick<ModelFacts, 'contextWindow' | 'maxOutputTokens'>

/** Share of the remaining room for passages, as a margin for low estimates. */
const PASSAGE_SHARE = 0.8

/**
 * Returns the maximum tokens of passages; `null` if the window is unknown. A long history is compacted for them.
 *
 * @param injected tokens of injected context.
 */
export function roomForPassages(
  { system, history, messages }: Said,
  request: Asked,
  facts: Limits,
  injected: number,
): number | null {
  const contextWindow = facts.contextWindow ?? null
  if (contextWindow === null) return null
  const reserved = outputReserve(request.settings, facts, contextWindow)
  const earlier = Math.min(estimated(history), contextWindow * DEFAULT_COMPACTION.to)
  const said = earlier + estimated(messages) + estimateTokens(system) + estimateTokens(GROUNDING_RULES)
  return Math.max(0, (contextWindow - reserved - said - injected - offeredTokens(request)) * PASSAGE_SHARE)
}

/** Share of the window for injected context, which must not displace the conversation. */
const CONTEXT_SHARE = 0.25

/** Returns the maximum tokens of injected context; `null` if the window is unknown. A long history is compacted for it. */
export function roomForContext(
  { system, messages }: Pick<Said, 'system' | 'messages'>,
  request: Asked,
  facts: Limits,
): number | null {
  const contextWindow = facts.contextWindow ?? null
  if (contextWindow === null) return null
  const asked = estimated(messages) + estimateTokens(system) + offeredTokens(request)
  const left = contextWindow - outputReserve(request.settings, facts, contextWindow) - asked
  return Math.max(0, Math.min(contextWindow * CONTEXT_SHARE, left / 2))
}

function estimated(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
}
