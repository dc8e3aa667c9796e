/** Lays out the rows at the bottom of the screen: progress, question, input and status. Pure. */

import { cellsOf, fit, graphemes, partsOf, widthOf, wrappedRows } from '../../util/cells.ts'
import { visibleLine, visibleText } from '../../util/terminal.ts'
import type { Channel, Style } from '../io.ts'
import { callLine } from '../tool-call-view.ts'
import type { ToolCallRecord } from '../tool-calls.ts'
import type { Draft, Question } from './editor.ts'

/** Rows that are painted anew. */
export interface Painting {
  /** Fit for a terminal, each in one row. */
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

type Written = Pick<Draft, 'text' | 'cursor'>
type Asked = Pick<Question, 'text' | 'choices' | 'selected'> & { readonly draft: Written }

/** What is to be seen at the bottom of the screen. */
export interface RegionState {
  readonly draft: Written
  /** What has arrived of an answer and is not whole enough to be shown for good. */
  readonly tail: string
  readonly running: readonly ToolCallRecord[]
  /** Milliseconds that the turn has taken; absent when nothing is at work. */
  readonly elapsed: number | undefined
  readonly queued: readonly string[]
  readonly candidates: readonly string[]
  readonly question: Asked | undefined
  readonly status: string
  /** Something to know for a moment, in place of the status. */
  readonly hint: string | undefined
}

interface Frame {
  readonly columns: number
  readonly rows: number
  readonly style: (style: Style, text: string) => string
}

const MOST_TAIL = 6
const MOST_RUNNING = 5
const MOST_QUEUED = 3
const MOST_CANDIDATES = 6
const MOST_CHOICES = 10
const LEAST_DRAFT = 3

export function regionOf(state: RegionState, frame: Frame): Painting {
  const { columns, style } = frame
  const row = (line: string): string => fit(visibleLine(line), columns - 1)
  const dim = (line: string): string => style('dim', row(line))
  const { running, elapsed, queued, candidates } = state
  const above = [
    ...tailRows(state.tail, columns, MOST_TAIL).map((line) => style('dim', line)),
    ...running.slice(-MOST_RUNNING).flatMap((call) => {
      const last = call.content.trimEnd().split('\n').at(-1) ?? ''
      return [row(`… ${callLine(call)}`), ...(last === '' ? [] : [row(`    ${last}`)])]
    }),
    ...(elapsed === undefined ? [] : [dim(`${Math.floor(elapsed / 1000)} s · Esc stops it`)]),
    ...queued.slice(0, MOST_QUEUED).map((text) => dim(`next: ${text}`)),
    ...(queued.length > MOST_QUEUED ? [dim(`and ${queued.length - MOST_QUEUED} more`)] : []),
    ...candidates.slice(0, MOST_CANDIDATES).map((candidate) => dim(`  ${candidate}`)),
    ...(candidates.length > MOST_CANDIDATES ? [dim(`  and ${candidates.length - MOST_CANDIDATES} more`)] : []),
  ]
  const room = Math.max(LEAST_DRAFT, Math.floor(frame.rows / 3))
  const written = state.question === undefined ? draftRows(state.draft, columns, room) : questionRows(state.question, room, frame)
  // A region that is higher than the screen could not be taken away again.
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
  const most = Math.max(2, Math.min(MOST_CHOICES, rows - 5))
  const first = Math.max(0, Math.min(selected - Math.floor(most / 2), choices.length - most))
  const shown = choices.slice(first, first + most).map(({ key, label }, index) => {
    const line = `${key}  ${label}`
    return first + index === selected ? style('bold', row(`❯ ${line}`)) : row(`  ${line}`)
  })
  const more = choices.length > most ? [style('dim', row(`${choices.length} in all: up and down`))] : []
  return { rows: [title, ...shown, ...more], cursor: { row: selected < 0 ? 0 : selected - first + 1, column: 0 } }
}

const PROMPT = '> '

/** A draft behind the prompt, with as many rows around the cursor as fit. */
export function draftRows({ text, cursor: at }: Written, columns: number, most: number): Painting {
  // The last cell stays free: terminals do not agree on where the cursor is behind it.
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

/** Characters of a text that is not whole yet, of which the last rows are made. */
const CUT = 4000

/** The last rows of a text that is not whole yet. */
export function tailRows(text: string, columns: number, most: number): readonly string[] {
  if (text.trim() === '') return []
  // Cut at the same place for a while: rows would move sideways with each word otherwise.
  const from = text.length <= 2 * CUT ? 0 : text.length - CUT - (text.length % CUT)
  const lines = visibleText(text.slice(from)).replaceAll('\t', '  ').split('\n').slice(-most)
  return wrappedRows(lines.join('\n'), columns - 1).slice(-most)
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

const HIDE = '\u001B[?25l'
const SHOW = '\u001B[?25h'
// The first row apart, and what is below from its second cell on: tmux and others put the screen into the scrollback when it is erased from
// its first cell, and every painting would stay there.
const CLEAR_BELOW = '\u001B[K\u001B[C\u001B[J\r'

export class Screen {
  readonly #target: Pick<Channel, 'writeRaw' | 'columns'>
  #painted: Painting | undefined
  #drawn = ''

  constructor(target: Pick<Channel, 'writeRaw' | 'columns'>) {
    this.#target = target
  }

  /** Writes what stays, above the painted rows. @param text fit for a terminal, with a line end. */
  commit(text: string, below: Painting): Promise<void> {
    return this.#target.writeRaw(`${HIDE}${this.#away()}${text}${this.#draw(below)}${SHOW}`)
  }

  async paint(painting: Painting): Promise<void> {
    if (this.#painted === undefined || JSON.stringify(painting) !== this.#drawn) await this.commit('', painting)
  }

  /** The terminal has another width: the next painting is a new one. */
  invalidate(): void {
    this.#drawn = ''
  }

  /** Somebody else has used the terminal: what was painted is gone. */
  forget(): void {
    this.#painted = undefined
  }

  /** Takes the painted rows away. */
  async clear(): Promise<void> {
    const away = this.#away()
    this.forget()
    await this.#target.writeRaw(away)
  }

  /** To the first of the painted rows, and everything from there on gone. A terminal that became narrower has wrapped them. */
  #away(): string {
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
