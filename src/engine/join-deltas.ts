import type { Note } from '../core/context.ts'
import type { EventBody } from '../core/event.ts'

export function isDelta(body: EventBody | Note): boolean {
  return body.type === 'text_delta' || body.type === 'thinking' || body.type === 'tool_input_delta'
}

/** Makes one of neighbouring deltas of one kind and attempt. */
export function joinDeltas(bodies: readonly (EventBody | Note)[]): (EventBody | Note)[] {
  const joined: (EventBody | Note)[] = []
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
