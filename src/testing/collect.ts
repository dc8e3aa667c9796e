import type { QueryEvent, QueryResult } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import type { Folded } from '../core/fold.ts'

/** A turn that has been read to its end. */
export interface Collected extends Folded {
  /** All events, in order. */
  readonly events: readonly QueryEvent[]
  /** The types of the events, in order: what most tests compare. */
  readonly types: readonly QueryEvent['type'][]
  /** What the generator returned. */
  readonly returned: QueryResult | undefined
}

/** Reads a turn to its end. */
export async function collect(turn: AsyncGenerator<QueryEvent, QueryResult | undefined>): Promise<Collected> {
  const events: QueryEvent[] = []
  for (;;) {
    const next = await turn.next()
    if (next.done === true) return { events, types: events.map(({ type }) => type), returned: next.value, ...foldEvents(events) }
    events.push(next.value)
  }
}
