/** What every station gets beside its input. */

import type { Clock } from './clock.ts'
import type { EventBody } from './event.ts'
import type { CreateId } from './id.ts'
import type { JournalEntry } from './recorder.ts'
import type { Span } from './span.ts'

export interface StationContext {
  readonly sessionId: string
  readonly turnId: string
  /** Aborted when the caller aborts, leaves, or a limit is met. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly createId: CreateId
  readonly span: Span
}

/** Written down by the recorder tap and not shown to the reader. */
export type Note = { readonly type: 'note'; readonly entry: Exclude<JournalEntry, { type: 'event' }> }

/** A station yields event bodies and notes, and returns its product. */
export type Station<Product> = AsyncGenerator<EventBody | Note, Product, undefined>
