/** Draws a tool call on one line: its arguments and its result. Pure. */

import { visibleLine } from '../../util/terminal.ts'
import { callLine, firstLine, linesOf } from '../deeds-view.ts'
import type { Deed } from '../deeds.ts'
import { formatMs, plural } from '../format.ts'

export interface FoldedCall extends Deed {
  /** Number in the session, by which it is shown in full. */
  readonly number: number
  /** What the tool said. */
  content: string
  durationMs: number
  /** Somebody is being asked about it: it does not run yet. */
  isAsked?: boolean
}

export type CallState = 'done' | 'failed' | 'refused'

export function stateOf({ refused, isError }: FoldedCall): CallState {
  if (refused !== undefined) return 'refused'
  return isError === true ? 'failed' : 'done'
}

const MARKS: Readonly<Record<CallState, string>> = { done: '✓', failed: '✗', refused: '⊘' }

/** One line without styles: `✓ run_command npm test · 12 lines · 1.2 s · /show 3`. */
export function foldedLine(call: FoldedCall): string {
  const state = stateOf(call)
  const facts = [`${MARKS[state]} ${callLine(call)}`, outcomeOf(call, state)]
  // What a person took to answer is no time of the tool.
  if (state !== 'refused' && call.name !== 'ask_user' && call.durationMs >= 1000) facts.push(formatMs(call.durationMs))
  if (state !== 'refused') facts.push(`/show ${call.number}`)
  return visibleLine(facts.filter((fact) => fact !== '').join(' · '))
}

const LONGEST = 120

function outcomeOf({ name, content, refused }: FoldedCall, state: CallState): string {
  if (state === 'refused') return `refused: ${refused?.reason ?? ''}`
  const lines = linesOf(content)
  if (state === 'failed') return cut((name === 'run_command' ? lines.at(-1) : undefined) ?? firstLine(content))
  // What changes a file says what it did in one line.
  const [first = '', ...more] = lines.filter((line) => line.trim() !== '')
  if (more.length === 0) return cut(first)
  return plural(lines.length, 'line')
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`
}
