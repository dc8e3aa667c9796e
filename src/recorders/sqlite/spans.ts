/** Spans in the table of spans. */

import { isCriaError } from '../../core/error.ts'
import type { SpanRecord } from '../../core/span.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readRow, readText, textColumn, wellFormedJson } from './columns.ts'
import type { Damage } from './columns.ts'
import type { Journal, SpanRow } from './journal.ts'

/** @throws TypeError when its attributes are no JSON. */
export function toSpanRow(span: SpanRecord): SpanRow {
  return [
    span.traceId,
    span.spanId,
    span.parentSpanId,
    span.turnId ?? null,
    span.name,
    span.startedAt,
    span.endedAt,
    span.status,
    span.error?.toWellFormed() ?? null,
    wellFormedJson(span.attributes),
    wellFormedJson(span.events),
  ]
}

/** Does `work` in one transaction, which takes along the spans that wait. They go on waiting when it fails. */
export function writeWithSpans<T>({ connection, spans }: Journal, work: () => T): T {
  const waiting = spans.length
  const result = connection.write(() => {
    for (const row of spans) insertSpan(connection, row)
    return work()
  })
  spans.splice(0, waiting)
  return result
}

/** A span that the file cannot keep must not take a turn with it. */
function insertSpan(connection: Connection, row: SpanRow): void {
  try {
    connection.run(
      `INSERT INTO spans (trace_id, span_id, parent_span_id, turn_id, name, started_at, ended_at, status, error, attributes, events)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row,
    )
  } catch (error) {
    if (isCriaError(error) && error.code === 'journal_failed') throw error
  }
}

/**
 * The spans of a turn, and those of its trace that belong to no turn, because they stand around it; in the order they began. Without a
 * turn, all of the trace.
 */
export function readSpans(connection: Connection, traceId: string, turnId: string | undefined, damage: Damage): SpanRecord[] {
  const rows = readRow('the list of its spans', damage, () =>
    connection.all<StoredSpan>(
      `SELECT trace_id, span_id, parent_span_id, turn_id, name, started_at, ended_at, status, ${textColumn('error')}, attributes, events
     FROM spans WHERE trace_id = ?1 AND (?2 IS NULL OR turn_id = ?2 OR turn_id IS NULL) ORDER BY started_at, id`,
      [traceId, turnId ?? null],
    ),
  )
  return (rows ?? []).flatMap((row) => readRow(`span ${row.span_id}`, damage, () => toSpan(row)) ?? [])
}

function toSpan(row: StoredSpan): SpanRecord {
  return {
    traceId: row.trace_id,
    spanId: row.span_id,
    parentSpanId: row.parent_span_id,
    name: row.name,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    attributes: JSON.parse(row.attributes) as SpanRecord['attributes'],
    events: JSON.parse(row.events) as SpanRecord['events'],
    status: row.status,
    ...(row.error === null ? {} : { error: readText(row.error) }),
    ...(row.turn_id === null ? {} : { turnId: row.turn_id }),
  }
}

interface StoredSpan {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly turn_id: string | null
  readonly name: string
  readonly started_at: number
  readonly ended_at: number
  readonly status: 'ok' | 'error'
  readonly error: Uint8Array | null
  readonly attributes: string
  readonly events: string
}
