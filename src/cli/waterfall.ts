/** Draws spans as a waterfall: each below its parent span, with a bar for its start and duration. */

import { ATTRIBUTE } from '../core/span.ts'
import type { SpanRecord } from '../core/span.ts'
import { formatMs, shorten, table } from './format.ts'

const MOST_COLUMNS = 40
const FEWEST_COLUMNS = 10
const DEEPEST = 20

/**
 * Returns one line per span, in order of start: offset from the first start, duration, and a bar for both.
 *
 * @param room columns of a line; bars use the space left by names and times, up to 40.
 */
export function waterfall(spans: readonly SpanRecord[], room: number = Infinity): string {
  const began = Math.min(...spans.map(({ startedAt }) => startedAt))
  const whole = Math.max(...spans.map(({ endedAt }) => endedAt)) - began
  const rows = nested(spans).map(({ span, depth }) => ({
    span,
    name: `${'  '.repeat(Math.min(depth, DEEPEST))}${shorten(labelOf(span), 40)}`,
    start: `+${formatMs(span.startedAt - began)}`,
    took: formatMs(span.endedAt - span.startedAt),
    failed: span.status === 'error' ? `failed: ${shorten(span.error ?? '', 80)}` : '',
  }))
  const widest = (cells: readonly string[]): number => Math.max(...cells.map((cell) => cell.length))
  const times = rows.flatMap(({ start, took }) => [start, took, 'start'])
  const left = room - widest(rows.map(({ name }) => name)) - 2 * widest(times) - 6
  const columns = Math.max(FEWEST_COLUMNS, Math.min(MOST_COLUMNS, left))
  return table(
    [
      ['', 'start', 'took', ''],
      ...rows.map(({ span, name, start, took, failed }) => [name, start, took, bar(span, began, whole, columns), failed]),
    ],
    [1, 2],
    room,
  )
}

/** Returns the tool of the span, else its name. */
function labelOf({ name, attributes }: SpanRecord): string {
  const tool = attributes[ATTRIBUTE.toolName]
  return typeof tool === 'string' ? tool : name
}

function bar({ startedAt, endedAt }: SpanRecord, began: number, whole: number, columns: number): string {
  if (whole === 0) return '█'.repeat(columns)
  const from = Math.min(columns - 1, Math.floor(((startedAt - began) / whole) * columns))
  const to = Math.max(from + 1, Math.round(((endedAt - began) / whole) * columns))
  return `${'·'.repeat(from)}${'█'.repeat(to - from)}${'·'.repeat(columns - to)}`
}

/** Orders spans depth first. A span without a known parent has depth 0. Spans in a cycle, from damaged data, come last. */
function nested(spans: readonly SpanRecord[]): readonly { readonly span: SpanRecord; readonly depth: number }[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const parentOf = ({ parentSpanId }: SpanRecord): string =>
    parentSpanId !== null && known.has(parentSpanId) ? parentSpanId : ''
  const inside = Map.groupBy(
    spans.toSorted((one, other) => one.startedAt - other.startedAt),
    parentOf,
  )
  const rows: { span: SpanRecord; depth: number }[] = []
  const waiting = (inside.get('') ?? []).map((span) => ({ span, depth: 0 })).toReversed()
  const seen = new Set<SpanRecord>()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { span, depth } = next
    if (seen.has(span)) continue
    seen.add(span)
    rows.push(next)
    waiting.push(...(inside.get(span.spanId) ?? []).map((child) => ({ span: child, depth: depth + 1 })).toReversed())
  }
  return [...rows, ...spans.filter((span) => !seen.has(span)).map((span) => ({ span, depth: 0 }))]
}
