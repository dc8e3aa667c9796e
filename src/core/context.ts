/** The context that every station receives beside its input. */

import type { Clock } from './clock.ts'
import type { EventBody, QueryEvent } from './event.ts'
import type { CreateId } from './id.ts'
import type { JournalEntry } from './recorder.ts'
import type { Span } from './span.ts'

export interface StationContext {
  readonly sessionId: string
  readonly turnId: string
  /** Aborted when the caller aborts or stops reading, or when a limit is reached. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly createId: CreateId
  readonly span: Span
}

/** Stored by the recorder tap, not shown to the reader. */
export type Note = { readonly type: 'note'; readonly entry: Exclude<JournalEntry, { type: 'event' }> }

/** An event of a turn that a tool started. Shown unchanged; its own turn has already stored it. */
export type Nested = { readonly type: 'nested'; readonly event: QueryEvent }

export type Yielded = EventBody | Note | Nested

/** A station yields event bodies, notes and nested events, and returns its product. */
export type Station<Product> = AsyncGenerator<Yielded, Product, undefined>
