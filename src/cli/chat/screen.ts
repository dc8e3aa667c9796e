/**
 * Lays out and paints the rows at the bottom of the screen: progress, question, input and status. Text above them is printed once into the
 * scrollback of the terminal and never changed, so scrolling, selecting and searching stay the terminal's.
 */

import { cellsOf, fit, graphemes, partsOf, widthOf, wrappedRows } from '../../util/cells.ts'
import { visibleLine, visibleText } from '../../util/terminal.ts'
import type { Channel, Style } from '../io.ts'
import { callLine } from '../tool-call-view.ts'
import type { ToolCallRecord } from '../tool-calls.ts'
import type { Draft, Question } from './editor.ts'

/** Rows that replace the previous painting. */
export interface Painting {
  /** Safe for a terminal; each fits into one row. */
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

type Written = Pick<Draft, 'text' | 'cursor'>
type Asked = Pick<Question, 'text' | 'choices' | 'selected'> & { readonly draft: Written }

/** The content of the bottom rows. */
export interface RegionState {
  readonly draft: Written
  /** Text of an answer that has arrived but is not complete enough to be printed. */
  readonly tail: string
  readonly running: readonly ToolCallRecord[]
  /** Duration of the current work in milliseconds; absent when there is none. */
  readonly elapsed: number | undefined
  readonly queued: readonly string[]
  readonly candidates: readonly string[]
  readonly question: Asked | undefined
  readonly status: string
  /** Shown instead of the status. */
  readonly hint: string | undefined
}

interface Frame {
  readonly columns: number
  readonly rows: number
  readonly style: (style: Style, text: string) => string
}

/** Maximum rows of each part. */
const MOST = { tail: 6, running: 5, queued: 3, candidates: 6, choices: 10 } as const
/** Rows that the draft may always take. */
const LEAST_DRAFT = 3

/** Lays out the bottom rows: always fewer than the screen has. */
export function regionOf(state: RegionState, frame: Frame): Painting {
  const { columns, style } = frame
  const row = (line: string): string => fit(visibleLine(line), columns - 1)
  const dim = (line: string): string => style('dim', row(line))
  const { running, elapsed, queued, candidates } = state
  const above = [
    ...tailRows(state.tail, columns, MOST.tail).map((line) => style('dim', line)),
    ...running.slice(-MOST.running).flatMap((call) => {
      const last = call.content.trimEnd().split('\n').at(-1) ?? ''
      return [row(`… ${callLine(call)}`), ...(last === '' ? [] : [row(`    ${last}`)])]
    }),
    ...(elapsed === undefined ? [] : [dim(`${Math.floor(elapsed / 1000)} s · Esc stops it`)]),
    ...queued.slice(0, MOST.queued).map((text) => dim(`next: ${text}`)),
    ...(queued.length > MOST.queued ? [dim(`and ${queued.length - MOST.queued} more`)] : []),
    ...candidates.slice(0, MOST.candidates).map((candidate) => dim(`  ${candidate}`)),
    ...(candidates.length > MOST.candidates ? [dim(`  and ${candidates.length - MOST.candidates} more`)] : []),
  ]
  const room = Math.max(LEAST_DRAFT, Math.floor(frame.rows / 3))
  const written = state.question === undefined ? draftRows(state.draft, columns, room) : questionRows(state.question, room, frame)
  // Rows that have scrolled off the screen could not be erased.
  const most = Math.max(0, frame.rows - 2 - written.rows.length)
  const kept = above.slice(Math.max(0, above.length - most))
  return {
    rows: [...kept, ...written.rows, dim(state.hint ?? state.status)],
    cursor: { row: kept.length + written.cursor.row, column: Math.min(written.cursor.column, columns - 1) },
  }
}

function questionRows({ text, choices, selected, draft }: Asked, room: number, { columns, rows, style }: Frame): Painting {
  const row = (line: string): string => fit(visibleLine(line), columns - 1)
  const title = style('bold', row(text))
  if (choices === undefined) {
    const { rows, cursor } = draftRows(draft, columns, room)
    return { rows: [title, ...rows], cursor: { ...cursor, row: cursor.row + 1 } }
  }
  const most = Math.max(2, Math.min(MOST.choices, rows - 5))
  const first = Math.max(0, Math.min(selected - Math.floor(most / 2), choices.length - most))
  const shown = choices.slice(first, first + most).map(({ key, label }, index) => {
    const line = `${key}  ${label}`
    return first + index === selected ? style('bold', row(`❯ ${line}`)) : row(`  ${line}`)
  })
  const more = choices.length > most ? [style('dim', row(`${choices.length} choices; more with Up and Down`))] : []
  return { rows: [title, ...shown, ...more], cursor: { row: selected < 0 ? 0 : selected - first + 1, column: 0 } }
}

const PROMPT = '> '

/** Lays out a draft after the prompt: as many rows around the cursor as fit. */
export function draftRows({ text, cursor: at }: Written, columns: number, most: number): Painting {
  // The last cell stays free, because terminals place the cursor differently after it.
  const room = Math.max(4, columns - PROMPT.length - 1)
  const rows: string[] = ['']
  let width = 0
  let cursor = { row: 0, column: 0 }
  const newRow = (): void => {
    rows.push('')
    width = 0
  }
  let passed = 0
  for (const grapheme of [...graphemes(text), '']) {
    if (passed === at) cursor = { row: rows.length - 1, column: width }
    passed += grapheme.length
    if (grapheme === '\n') {
      newRow()
      continue
    }
    const shown = grapheme === '\t' ? '  ' : visibleText(grapheme)
    for (const part of shown === grapheme ? partsOf(shown, room) : graphemes(shown)) {
      if (width + cellsOf(part) > room) newRow()
      rows[rows.length - 1] += part
      width += cellsOf(part)
    }
  }
  const first = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most))
  const shown = rows.slice(first, first + most).map((row, index) => {
    const lead = first + index === 0 ? PROMPT : index === 0 ? '… ' : '  '
    return `${lead}${row}`
  })
  return { rows: shown, cursor: { row: cursor.row - first, column: cursor.column + PROMPT.length } }
}

/** Characters at the end of an incomplete text that are laid out. */
const CUT = 4000

/** Returns the last rows of an incomplete text. */
export function tailRows(text: string, columns: number, most: number): readonly string[] {
  if (text.trim() === '') return []
  // Cut in large steps: otherwise each new word would shift the text of all rows.
  const from = text.length <= 2 * CUT ? 0 : text.length - CUT - (text.length % CUT)
  const lines = visibleText(text.slice(from)).replaceAll('\t', '  ').split('\n').slice(-most)
  return wrappedRows(lines.join('\n'), columns - 1).slice(-most)
}

/** Lines and characters of a sent message that are printed. */
const ECHOED_LINES = 20
const ECHOED = 4000

/** Formats a sent message for the scrollback, with a final line feed. */
export function echoOf(message: string, style: (style: 'bold' | 'dim', text: string) => string): string {
  const lines = visibleText(message.slice(0, ECHOED).toWellFormed()).split('\n').slice(0, ECHOED_LINES)
  const shown = lines.map((line, index) => style('bold', `${index === 0 ? '>' : ' '} ${line}`))
  const left = message.split('\n').length - ECHOED_LINES
  if (left > 0) shown.push(style('dim', `  … ${left} more lines`))
  else if (message.length > ECHOED) shown.push(style('dim', `  … ${message.length - ECHOED} more characters`))
  return `${shown.join('\n')}\n`
}

const HIDE = '\u001B[?25l'
const SHOW = '\u001B[?25h'
// Clears the first row, then everything from its second cell on. Erasing from the first cell makes tmux and others copy the screen into the
// scrollback, where each painting would remain.
const CLEAR_BELOW = '\u001B[K\u001B[C\u001B[J\r'

export class Screen {
  readonly #target: Pick<Channel, 'writeRaw' | 'columns'>
  #painted: Painting | undefined
  #drawn = ''

  constructor(target: Pick<Channel, 'writeRaw' | 'columns'>) {
    this.#target = target
  }

  /** Prints text above the painted rows. @param text safe for a terminal, with a final line feed. */
  commit(text: string, below: Painting): Promise<void> {
    return this.#target.writeRaw(`${HIDE}${this.#erase()}${text}${this.#draw(below)}${SHOW}`)
  }

  async paint(painting: Painting): Promise<void> {
    if (this.#painted === undefined || JSON.stringify(painting) !== this.#drawn) await this.commit('', painting)
  }

  /** Makes the next painting unconditional, because the terminal was resized. */
  invalidate(): void {
    this.#drawn = ''
  }

  /** Forgets the painted rows, because another program has used the terminal. */
  forget(): void {
    this.#painted = undefined
  }

  /** Erases the painted rows. */
  async clear(): Promise<void> {
    const erase = this.#erase()
    this.forget()
    await this.#target.writeRaw(erase)
  }

  /** Returns the sequence that erases the painted rows, which a terminal that became narrower has wrapped. */
  #erase(): string {
    if (this.#painted === undefined) return ''
    const { rows, cursor } = this.#painted
    const { columns } = this.#target
    const above = rows.slice(0, cursor.row).reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / columns)), 0)
    const up = above + Math.floor(cursor.column / columns)
    return `\r${up === 0 ? '' : `\u001B[${up}A`}${CLEAR_BELOW}`
  }

  #draw(painting: Painting): string {
    const { rows, cursor } = painting
    this.#painted = painting
    this.#drawn = JSON.stringify(painting)
    const up = rows.length - 1 - cursor.row
    const right = cursor.column === 0 ? '' : `\u001B[${cursor.column}C`
    return `${rows.join('\n')}\r${up === 0 ? '' : `\u001B[${up}A`}${right}`
  }
}
