/** Writes and reads spans in the table of spans. */

import type { SpanRecord } from '../../core/span.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { columnsOf, insertInto, readRow, readRows, readText, textColumn, wellFormedJson } from './columns.ts'
import type { Damage, Row } from './columns.ts'
import { isFailed } from './journal.ts'
import type { Journal } from './journal.ts'

/** @throws TypeError when its attributes are not JSON. */
export function toSpanRow(span: SpanRecord): Row {
  const { traceId, spanId, parentSpanId, name, startedAt, endedAt, status } = span
  const plain = { traceId, spanId, parentSpanId, name, startedAt, endedAt, status }
  return {
    ...plain,
    turnId: span.turnId ?? null,
    error: span.error?.toWellFormed() ?? null,
    attributes: wellFormedJson(span.attributes),
    events: wellFormedJson(span.events),
  }
}

/** Runs `work` in one transaction together with the waiting spans. They stay waiting when it fails. */
export function writeWithSpans<T>({ connection, spans }: Journal, work: () => T): T {
  const waiting = spans.length
  const result = connection.write(() => {
    for (const row of spans) insertSpan(connection, row)
    return work()
  })
  spans.splice(0, waiting)
  return result
}

/** Ignores a span that cannot be stored, so that the turn's own rows are written. */
function insertSpan(connection: Connection, row: Row): void {
  try {
    insertInto(connection, 'spans', row)
  } catch (error) {
    if (isFailed(error)) throw error
  }
}

/** Stores the waiting spans if possible, so that a reader sees them. */
export function storeSpans(journal: Journal): void {
  if (journal.spans.length === 0 || journal.connection.readOnly) return
  try {
    writeWithSpans(journal, () => {})
  } catch (error) {
    if (!isFailed(error)) throw error
  }
}

type StoredSpan = Omit<SpanRecord, 'turnId' | 'error' | 'attributes' | 'events'> & {
  readonly turnId: string | null
  readonly error: Uint8Array | null
  readonly attributes: string
  readonly events: string
}

const COLUMNS = columnsOf('traceId spanId parentSpanId turnId name startedAt endedAt status attributes events')

/**
 * Reads the spans of a turn, and the spans of its trace outside of any turn, in the order they began. Without a turn id, reads the whole
 * trace.
 */
export function readSpans(connection: Connection, traceId: string, turnId: string | undefined, damage: Damage): SpanRecord[] {
  const rows = readRow('the list of its spans', damage, () =>
    connection.all<StoredSpan>(
      `SELECT ${COLUMNS}, ${textColumn('error')}
       FROM spans WHERE trace_id = ?1 AND (?2 IS NULL OR turn_id = ?2 OR turn_id IS NULL) ORDER BY started_at, id`,
      [traceId, turnId ?? null],
    ),
  )
  return readRows(rows ?? [], damage, ({ spanId }) => `span ${spanId}`, toSpan)
}

function toSpan({ turnId, error, attributes, events, status, ...span }: StoredSpan): SpanRecord {
  return {
    ...span,
    attributes: JSON.parse(attributes) as SpanRecord['attributes'],
    events: JSON.parse(events) as SpanRecord['events'],
    status,
    ...(error === null ? {} : { error: readText(error) }),
    ...(turnId === null ? {} : { turnId }),
  }
}
