/**
 * Chooses the cache breakpoints of a request to Anthropic, which caches everything before a breakpoint. A breakpoint pays if the next request has the
 * same prefix, so the places depend on the conversation alone: after tools and instructions, after tool results, and after the answers of earlier
 * turns. Retrieved passages, which change in each turn, come after all of these.
 * https://docs.claude.com/en/docs/build-with-claude/prompt-caching
 */

import type { JsonObject } from '../../core/json.ts'
import type { Turn } from '../conversation/conversation.ts'

/** Anthropic accepts four marks; the first is for tools and instructions. An older mark is free, and hits the cache entry of an earlier step. */
const MARKS_IN_CONVERSATION = 3

export const MARK: JsonObject = { cache_control: { type: 'ephemeral' } }

/** Returns the indexes of the turns whose last block is marked; -1 means the last tool, if there are no instructions. */
export function cacheMarks(turns: readonly Turn[]): ReadonlySet<number> {
  const firstOther = turns.findIndex(({ role }) => role !== 'system')
  const places = new Set([(firstOther < 0 ? turns.length : firstOther) - 1])
  for (let at = turns.length - 1, left = MARKS_IN_CONVERSATION; at >= 0 && left > 0; at--) {
    if (!standsStill(turns[at], turns[at + 1])) continue
    places.add(at)
    left--
  }
  return places
}

function standsStill(turn: Turn | undefined, next: Turn | undefined): boolean {
  if (turn?.role === 'tool') return true
  return turn?.role === 'assistant' && turn.parts.at(-1)?.type === 'text' && next?.role === 'user'
}
