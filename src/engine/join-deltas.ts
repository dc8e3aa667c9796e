/** Decides which events are stored together, and joins deltas. */

import type { Yielded } from '../core/context.ts'
import type { Grouping } from '../util/ready.ts'

/** Facts that nothing is done upon: what is yielded after them in the same tick may be stored with them. */
const OPEN: ReadonlySet<Yielded['type']> = new Set<Yielded['type']>([
  'usage',
  'message',
  'retrieval',
  'notice',
  'tool_request',
  'permission_decision',
  'tool_result',
])

/**
 * Whether a station may run on before this is stored. It may not where something follows that must find it stored: the effect of a tool
 * behind `tool_start`, a request behind its messages, a question to the user behind `permission_request`, the end of a turn. Before the
 * first step it never may, so that each event bears the step in which it was yielded.
 */
export function groupingOf(body: Yielded, step: number): Grouping {
  if (body.type === 'text_delta' || body.type === 'thinking' || body.type === 'tool_input_delta') return 'paced'
  // Behind a message without calls the turn ends: a reader who leaves at its text leaves before that.
  if (body.type === 'message' && body.message.toolCalls === undefined) return 'last'
  return step > 0 && body.type !== 'note' && OPEN.has(body.type) ? 'open' : 'last'
}

/** Makes one of neighbouring deltas of one kind and attempt. */
export function joinDeltas(bodies: readonly Yielded[]): Yielded[] {
  const joined: Yielded[] = []
  for (const body of bodies) {
    const last = joined.at(-1)
    if (body.type === 'text_delta' && last?.type === 'text_delta' && last.attempt === body.attempt) {
      joined[joined.length - 1] = { ...last, text: last.text + body.text }
    } else if (body.type === 'thinking' && last?.type === 'thinking' && last.attempt === body.attempt) {
      joined[joined.length - 1] = { ...last, content: last.content + body.content }
    } else if (body.type === 'tool_input_delta' && last?.type === 'tool_input_delta' && last.id === body.id) {
      joined[joined.length - 1] = { ...last, delta: last.delta + body.delta }
    } else {
      joined.push(body)
    }
  }
  return joined
}
