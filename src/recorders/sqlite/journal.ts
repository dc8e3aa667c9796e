/** Types an open journal, which the functions of this folder share. */

import type { SQLInputValue } from 'node:sqlite'
import type { Amount } from '../../core/budget.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { TurnKey } from './events.ts'
import type { Owner } from './owner.ts'

export interface Journal {
  readonly connection: Connection
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly owner: Owner
  /** Tells this recorder from others of the same process. */
  readonly holder: string
  readonly leaseMs: number
  /** Where sessions are begun; absent where nobody knows. */
  readonly folder?: string
  /** Turns that this recorder opened and has not ended, by turn id. */
  readonly open: Map<string, OpenTurn>
  /** Spans that the next transaction takes along, in the order they ended. */
  readonly spans: SpanRow[]
}

/** The values of a row of the table of spans, in the order of its columns. */
export type SpanRow = readonly SQLInputValue[]

export interface OpenTurn extends TurnKey {
  nextSeq: number
  /** Of the next message. */
  nextPosition: number
  /** Ids of messages that came with a `message` event. */
  readonly assembled: Set<string>
  /** What of its use the accounts of session and day have been told. */
  counted: Amount
  /** It decides a turn that waits, which it has not taken up yet. */
  decides: boolean
  /** The last attempt to write failed: nobody renews its lease until one succeeds. */
  failing: boolean
}
