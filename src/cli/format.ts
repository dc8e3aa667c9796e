/** Formats numbers, times and tables for display. */

import type { Usage } from '../core/usage.ts'
import { nearest } from '../util/nearest.ts'
import { visibleLine } from '../util/terminal.ts'
import { roomOf } from './io.ts'
import type { Channel, Io } from './io.ts'
import { fitTable } from './terminal/tables.ts'
import { widthOf } from '../util/cells.ts'

/** Formats milliseconds: `0.4 s`, `1 min 20 s`; `null` (unknown) as a dash. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Formats US dollars: `$0.0042`; `null` (unknown) as a dash, unlike `$0`. */
export function formatCost(usd: number | null): string {
  if (usd === null) return '–'
  if (usd === 0) return '$0'
  if (usd >= 0.01) return `$${usd.toFixed(2)}`
  // Two significant digits, without an exponent.
  return `$${usd.toFixed(Math.min(20, 1 - Math.floor(Math.log10(usd))))}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${['kB', 'MB', 'GB', 'TB'][power - 1] ?? ''}`
}

/** `2026-01-31 08:15`, in local time. */
export function formatTime(epochMs: number): string {
  const date = new Date(epochMs)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Formats token counts: `1234 tokens in, 56 out`; unknown counts as a dash. */
export function formatUsage({ inputTokens, outputTokens, exactness }: Usage): string {
  if (inputTokens === null && outputTokens === null) return 'tokens unknown'
  const about = exactness === 'estimated' ? 'about ' : ''
  return `${about}${inputTokens ?? '–'} tokens in, ${outputTokens ?? '–'} out`
}

export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Quotes user input, cut to `width` characters. */
export function quoted(text: string, width = 60): string {
  return JSON.stringify(text.slice(0, width))
}

/** Returns ` Did you mean …?` with the closest known word and a leading space; empty when no word is close. */
export function didYouMean(word: string, known: readonly string[], before = ''): string {
  const close = nearest(word, known)
  return close === undefined ? '' : ` Did you mean ${before}${close}?`
}

/** Returns one line, escaped for terminals and cut to `width` characters. */
export function shorten(text: string, width: number): string {
  const line = visibleLine(text.slice(0, width * 4).trim())
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}

/**
 * Lays out rows as columns of plain text, two spaces apart; the last column is not padded.
 *
 * @param right indexes of right-aligned columns.
 * @param room maximum cells per line; longer rows are wrapped between words. Default: unlimited.
 */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = [], room: number = Infinity): string {
  const widths: number[] = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  const lines = rows.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0
        if (right.includes(index)) return cell.padStart(width)
        return index === row.length - 1 ? cell : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
  if (lines.some((line) => widthOf(line) > room)) return fitTable(rows, right, room)
  return lines.map((line) => `${line}\n`).join('')
}

/** Lays out a table with additional lines below each row. */
export function tableOver(
  rows: readonly (readonly string[])[],
  below: readonly (readonly string[])[],
  right?: readonly number[],
): string {
  const lines = table(rows, right).trimEnd().split('\n')
  return lines.map((line, index) => [line, ...(below[index] ?? []), ''].join('\n')).join('')
}

/** Formats a heading, with a blank line before it. */
export function heading(text: string, out: Channel): string {
  return `\n${out.style('bold', text)}\n`
}

/** Prints a table, on a terminal wrapped to its width. @param right indexes of right-aligned columns. */
export function printTable(
  { stdout }: Pick<Io, 'stdout'>,
  rows: readonly (readonly string[])[],
  right?: readonly number[],
): Promise<void> {
  return stdout.write(table(rows, right, roomOf(stdout)))
}
