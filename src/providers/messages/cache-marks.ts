/**
 * Where a request is marked for Anthropic's cache, which keeps only what it is asked to keep: everything before a mark. A mark pays where the next request
 * begins in the same way, and is found again where it stood before, so the places follow from the conversation alone: behind tools and instructions, behind
 * the results of tools, and behind the answers of earlier turns. What is looked up anew in each turn stands behind all of these.
 * https://docs.claude.com/en/docs/build-with-claude/prompt-caching
 */

import type { JsonObject } from '../../core/json.ts'
import type { Turn } from '../conversation/conversation.ts'

/** Four marks are taken; the first is for tools and instructions. An older one costs nothing and finds what a step before has written. */
const MARKS_IN_CONVERSATION = 3

export const MARK: JsonObject = { cache_control: { type: 'ephemeral' } }

/** The turns whose last block is marked; -1 stands for the tools, where there are no instructions. */
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
