import type { Yielded } from '../core/context.ts'

export function isDelta(body: Yielded): boolean {
  return body.type === 'text_delta' || body.type === 'thinking'
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
    } else {
      joined.push(body)
    }
  }
  return joined
}
