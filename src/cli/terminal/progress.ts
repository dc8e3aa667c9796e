/** Shows the progress of long work: a bar on a terminal, occasional lines elsewhere. */

import { visibleLine } from '../../util/terminal.ts'
import type { Channel } from '../io.ts'

export interface Progress {
  /** The kind of work: `Indexing`. */
  readonly label: string
  readonly done: number
  /** Absent while it is unknown. */
  readonly total?: number
  /** Noun for the counted items: `files`. */
  readonly unit: string
  /** The current item. */
  readonly current?: string
  /** Progress of the current item, 0 to 1. */
  readonly part?: number
}

const BAR_WIDTH = 24
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** Formats progress as a line of at most `columns` characters: bar, share, count, rate, and remaining time. */
export function progressBar(progress: Progress, elapsedMs: number, columns: number): string {
  const { label, done, total, unit, current, part = 0 } = progress
  const count = total === undefined ? `${done} ${unit}` : `${done}/${total} ${unit}`
  const parts = [label]
  if (total !== undefined && total > 0) {
    const share = Math.min(1, (done + part) / total)
    parts.push(bar(share), `${String(Math.floor(share * 100)).padStart(3)} %`)
  }
  parts.push(count, ...pace(progress, elapsedMs))
  const line = parts.join('  ')
  const room = columns - 1 - line.length - 2
  const named = current === undefined || room < 8 ? line : `${line}  ${endOf(visibleLine(current), room)}`
  return named.slice(0, Math.max(0, columns - 1))
}

/** Formats progress as a sentence for a log. */
export function progressLine(progress: Progress, elapsedMs: number): string {
  const { label, done, total, unit, part } = progress
  const count = total === undefined ? `${done} ${unit}` : `${done} of ${total} ${unit}`
  const next = part === undefined ? [] : [`${Math.floor(part * 100)} % of the next`]
  return [`${label}: ${count}`, ...next, ...pace(progress, elapsedMs)].join(', ')
}

/** Share of the first item below which no remaining time is estimated. */
const LEAST_SHARE = 0.02

/** Returns rate and remaining time, once there is enough progress to estimate them. */
function pace({ done, total, unit, part = 0 }: Progress, elapsedMs: number): readonly string[] {
  const all = done + part
  if (elapsedMs < 500 || all === 0 || (total !== undefined && done === 0 && all / total < LEAST_SHARE)) return []
  const perSecond = (all / elapsedMs) * 1000
  const rate = done === 0 ? [] : [`${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)} ${unit}/s`]
  return total === undefined || all >= total ? rate : [...rate, `${duration((total - all) / perSecond)} left`]
}

/** Formats seconds: `45 s`, `3 min 05 s`, `2 h 10 min`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
  const minutes = Math.ceil(whole / 60)
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

function bar(share: number): string {
  const eighths = Math.round(share * BAR_WIDTH * 8)
  const full = '█'.repeat(Math.floor(eighths / 8))
  return `${full}${EIGHTHS[eighths % 8] ?? ''}`.padEnd(BAR_WIDTH, '░')
}

/** Cuts the beginning of a path, because its end is more specific. */
function endOf(text: string, room: number): string {
  return text.length <= room ? text : `…${text.slice(text.length - room + 1)}`
}

export interface ProgressReporter {
  show(progress: Progress): void
  /** Erases the bar; safe to call at any time. */
  clear(): void
}

const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 10_000
const CLEAR_LINE = '\r\u001B[K'

/**
 * Reports progress on an output stream: as a bar if a line can be overwritten, else as a line every 10 seconds.
 *
 * @param options.patience milliseconds before the first bar, so that short work shows none; default 300.
 */
export function reportProgress(
  target: Pick<Channel, 'writeRaw' | 'columns' | 'live'>,
  { patience = 300, now = () => performance.now() }: { readonly patience?: number; readonly now?: () => number } = {},
): ProgressReporter {
  const started = now()
  const every = target.live ? BAR_EVERY_MS : LINE_EVERY_MS
  let last = target.live ? started + patience - every : started
  let shown = false
  return {
    show(progress) {
      if (now() - last < every) return
      last = now()
      shown = target.live
      const bar = `${CLEAR_LINE}${progressBar(progress, last - started, target.columns)}`
      void target.writeRaw(target.live ? bar : `${progressLine(progress, last - started)}\n`)
    },
    clear() {
      if (shown) void target.writeRaw(CLEAR_LINE)
      shown = false
    },
  }
}
