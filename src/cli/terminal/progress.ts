/** Shows the progress of long work: a bar on a terminal, a line now and then elsewhere. */

import { visibleLine } from '../../util/terminal.ts'
import type { Channel } from '../io.ts'

export interface Progress {
  /** What is being done: `Indexing`. */
  readonly label: string
  readonly done: number
  /** Absent while nobody knows. */
  readonly total?: number
  /** What is counted: `files`. */
  readonly unit: string
  /** What is worked on right now. */
  readonly current?: string
  /** How much of that is done, 0 to 1. */
  readonly part?: number
}

const BAR_WIDTH = 24
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const

/** One line of at most `columns` characters: bar, share, count, rate and the time that is left at this rate. */
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

/** The same as a sentence for a log. */
export function progressLine(progress: Progress, elapsedMs: number): string {
  const { label, done, total, unit, part } = progress
  const count = total === undefined ? `${done} ${unit}` : `${done} of ${total} ${unit}`
  const next = part === undefined ? [] : [`${Math.floor(part * 100)} % of the next`]
  return [`${label}: ${count}`, ...next, ...pace(progress, elapsedMs)].join(', ')
}

/** Of one large file: of less the remaining time is a guess. */
const LEAST_SHARE = 0.02

/** Rate and remaining time, as soon as they mean something. */
function pace({ done, total, unit, part = 0 }: Progress, elapsedMs: number): readonly string[] {
  const all = done + part
  if (elapsedMs < 500 || all === 0 || (total !== undefined && done === 0 && all / total < LEAST_SHARE)) return []
  const perSecond = (all / elapsedMs) * 1000
  const rate = done === 0 ? [] : [`${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)} ${unit}/s`]
  return total === undefined || all >= total ? rate : [...rate, `${duration((total - all) / perSecond)} left`]
}

/** `45 s`, `3 min 05 s`, `2 h 10 min`. */
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

/** The end of a path says more than its beginning. */
function endOf(text: string, room: number): string {
  return text.length <= room ? text : `…${text.slice(text.length - room + 1)}`
}

export interface ProgressReporter {
  show(progress: Progress): void
  /** Takes the bar away; safe to call at any time. */
  clear(): void
}

const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 10_000
const CLEAR_LINE = '\r\u001B[K'

/**
 * Shows progress on a stream that people read: a bar where a line can be written over, else a line now and then. Work that is soon done shows
 * nothing: the first bar waits for `patience` milliseconds.
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
