/** Composes the repainted rows from top to bottom. Pure. */

import type { Style } from '../io.ts'
import { visibleLine } from '../../util/terminal.ts'
import { fit } from '../../util/cells.ts'
import { callLine } from '../deeds-view.ts'
import type { Draft } from './editor.ts'
import type { FoldedCall } from './fold.ts'
import type { Choice } from './front.ts'
import { draftRows, oneRow, tailRows } from './layout.ts'
import type { Painting } from './screen.ts'

export interface RegionState {
  readonly draft: Pick<Draft, 'text' | 'cursor'>
  /** What has arrived of an answer and is not whole enough to be shown for good. */
  readonly tail: string
  readonly running: readonly FoldedCall[]
  /** Milliseconds that the turn has taken; absent when nothing is at work. */
  readonly elapsed: number | undefined
  readonly queued: readonly string[]
  readonly candidates: readonly string[]
  readonly question: AskedQuestion | undefined
  readonly status: string
  /** Something to know for a moment, in place of the status. */
  readonly hint: string | undefined
}

export interface AskedQuestion {
  readonly text: string
  /** Absent for a question that is answered with words. */
  readonly choices: readonly Choice[] | undefined
  /** -1: none yet. */
  readonly selected: number
  readonly draft: Pick<Draft, 'text' | 'cursor'>
}

export interface RegionFrame {
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

export function regionOf(state: RegionState, frame: RegionFrame): Painting {
  const { columns, style } = frame
  const dim = (text: string): string => style('dim', text)
  const above = [
    ...tailRows(state.tail, columns, MOST_TAIL).map(dim),
    ...state.running.slice(-MOST_RUNNING).flatMap((call) => runningRows(call, columns)),
    ...(state.elapsed === undefined ? [] : [oneRow(`${Math.floor(state.elapsed / 1000)} s · Esc stops it`, columns)]).map(dim),
    ...state.queued.slice(0, MOST_QUEUED).map((text) => dim(oneRow(`next: ${text}`, columns))),
    ...(state.queued.length > MOST_QUEUED ? [dim(oneRow(`and ${state.queued.length - MOST_QUEUED} more`, columns))] : []),
    ...candidateRows(state.candidates, columns).map(dim),
  ]
  const room = Math.max(LEAST_DRAFT, Math.floor(frame.rows / 3))
  const written = state.question === undefined ? draftBlock(state.draft, room, frame) : questionBlock(state.question, room, frame)
  const below = [dim(fit(visibleLine(state.hint ?? state.status), columns - 1))]
  // A region that is higher than the screen could not be taken away again.
  const most = Math.max(0, frame.rows - 1 - written.rows.length - below.length)
  const kept = above.slice(Math.max(0, above.length - most))
  const rows = [...kept, ...written.rows, ...below]
  return { rows, cursor: { row: kept.length + written.cursor.row, column: Math.min(written.cursor.column, columns - 1) } }
}

function draftBlock(draft: RegionState['draft'], room: number, { columns }: RegionFrame): Painting {
  return draftRows(draft, '> ', columns, room)
}

function questionBlock(question: AskedQuestion, room: number, { columns, rows, style }: RegionFrame): Painting {
  const { text, choices, selected, draft } = question
  const title = style('bold', oneRow(text, columns))
  if (choices === undefined) {
    const written = draftRows(draft, '> ', columns, room)
    return { rows: [title, ...written.rows], cursor: { row: written.cursor.row + 1, column: written.cursor.column } }
  }
  const most = Math.max(2, Math.min(MOST_CHOICES, rows - 5))
  const first = Math.max(0, Math.min(selected - Math.floor(most / 2), choices.length - most))
  const shown = choices.slice(first, first + most).map(({ key, label }, index) => {
    const isSelected = first + index === selected
    const row = oneRow(`${isSelected ? '❯' : ' '} ${key}  ${label}`, columns)
    return isSelected ? style('bold', row) : row
  })
  const more = choices.length > most ? [style('dim', oneRow(`${choices.length} in all: up and down`, columns))] : []
  return { rows: [title, ...shown, ...more], cursor: { row: Math.max(0, selected - first) + (selected < 0 ? 0 : 1), column: 0 } }
}

function runningRows(call: FoldedCall, columns: number): string[] {
  const last = call.content.trimEnd().split('\n').at(-1) ?? ''
  return [oneRow(`… ${callLine(call)}`, columns), ...(last === '' ? [] : [oneRow(`    ${last}`, columns)])]
}

function candidateRows(candidates: readonly string[], columns: number): string[] {
  if (candidates.length === 0) return []
  const shown = candidates.slice(0, MOST_CANDIDATES).map((each) => oneRow(`  ${each}`, columns))
  return candidates.length > MOST_CANDIDATES
    ? [...shown, oneRow(`  and ${candidates.length - MOST_CANDIDATES} more`, columns)]
    : shown
}
