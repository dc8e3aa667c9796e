/** Lays out the rows at the bottom of the screen: progress, question and input. Pure. */

import { visibleLine, visibleText } from '../../util/terminal.ts'
import { cellsOf, fit, graphemes, partsOf, rowsOf, widthOf } from '../../util/cells.ts'
import { wrapWords } from '../../util/cells.ts'
import type { Draft } from './editor.ts'

export interface Cursor {
  readonly row: number
  readonly column: number
}

export interface Block {
  readonly rows: readonly string[]
  readonly cursor: Cursor
}

const INDENT = 2

/** A draft behind a prompt of two cells, with as many rows around the cursor as fit. */
export function draftRows(draft: Pick<Draft, 'text' | 'cursor'>, prompt: string, columns: number, most: number): Block {
  // The last cell stays free: terminals do not agree on where the cursor is behind it.
  const room = Math.max(4, columns - INDENT - 1)
  const rows: string[] = ['']
  let cursor: Cursor = { row: 0, column: 0 }
  let [at, width] = [0, 0]
  const add = (shown: string, cells: number): void => {
    if (width + cells > room) {
      rows.push('')
      width = 0
    }
    rows[rows.length - 1] += shown
    width += cells
  }
  for (const grapheme of graphemes(draft.text)) {
    if (at === draft.cursor) cursor = { row: rows.length - 1, column: width }
    at += grapheme.length
    if (grapheme === '\n') {
      rows.push('')
      width = 0
    } else {
      const shown = grapheme === '\t' ? '  ' : visibleText(grapheme)
      const parts = shown === grapheme ? partsOf(shown, room) : graphemes(shown)
      for (const each of parts) add(each, cellsOf(each))
    }
  }
  if (at === draft.cursor) cursor = { row: rows.length - 1, column: width }

  const first = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most))
  const shown = rows.slice(first, first + most).map((row, index) => {
    const lead = first + index === 0 ? prompt : index === 0 ? '… ' : '  '
    return `${lead}${row}`
  })
  return { rows: shown, cursor: { row: cursor.row - first, column: cursor.column + INDENT } }
}

/** Characters of a text that is not whole yet, of which the last rows are made. */
const CUT = 4000

/** The last rows of a text that is not whole yet. */
export function tailRows(text: string, columns: number, most: number): readonly string[] {
  if (text.trim() === '') return []
  // Cut at the same place for a while: rows would move sideways with each word otherwise.
  const from = text.length <= 2 * CUT ? 0 : text.length - CUT - (text.length % CUT)
  const lines = visibleText(text.slice(from)).replaceAll('\t', '  ').split('\n').slice(-most)
  const rows = lines.flatMap((line) => wrapWords(line, columns - 1).split('\n'))
  return rows.flatMap((row) => rowsOf(row, columns - 1)).slice(-most)
}

/** What of a message stays on the screen. */
const ECHOED_LINES = 20
const ECHOED = 4000

/** A message as it stays above, with a line end. */
export function echoOf(message: string, style: (style: 'bold' | 'dim', text: string) => string): string {
  const lines = visibleText(message.slice(0, ECHOED).toWellFormed()).split('\n').slice(0, ECHOED_LINES)
  const shown = lines.map((line, index) => style('bold', `${index === 0 ? '>' : ' '} ${line}`))
  const left = message.split('\n').length - ECHOED_LINES
  if (left > 0) shown.push(style('dim', `  … ${left} more lines`))
  else if (message.length > ECHOED) shown.push(style('dim', `  … ${message.length - ECHOED} more characters`))
  return `${shown.join('\n')}\n`
}

/** A line that is cut where the row ends. */
export function oneRow(line: string, columns: number): string {
  return fit(visibleLine(line), columns - 1)
}

/** Rows that a painted line takes when the terminal has this width. */
export function rowsTaken(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / columns))
}
