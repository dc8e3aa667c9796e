/** Computes how much of the context window retrieved passages may take. */

import type { Message } from '../core/message.ts'
import type { ModelFacts } from '../core/model.ts'
import { DEFAULT_COMPACTION, outputReserve } from './compact/room.ts'
import { GROUNDING_RULES } from './compose.ts'
import { estimateMessageTokens, estimateTokens, offeredTokens } from './request-tokens.ts'
import type { RequestOptions } from './request.ts'
import type { TurnInput } from './turn-input.ts'

type Said = Pick<TurnInput, 'system' | 'history' | 'messages'>
type Asked = Pick<RequestOptions, 'settings' | 'tools' | 'responseFormat'>
type Limits = Pick<ModelFacts, 'contextWindow' | 'maxOutputTokens'>

/** Of what is left when everything else has its place, so that an estimate that is too low does no harm. */
const PASSAGE_SHARE = 0.8

/**
 * Tokens that passages may take; `null` when nobody knows the window. A long history makes room for them.
 *
 * @param injected tokens of what was put in beside the conversation.
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

/** Of the window, for what is put in beside the conversation: it must not crowd out what is said. */
const CONTEXT_SHARE = 0.25

/** Tokens that injected context may take; `null` when nobody knows the window. A long history makes room for it. */
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
