/** Shows a turn on the screen: the answer while it arrives, and each tool call on one line when it has ended. */

import { errorFromInfo } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import { causeOf } from '../../engine/turn-end.ts'
import { wrapWords } from '../../util/cells.ts'
import { visibleText } from '../../util/terminal.ts'
import type { TextStream } from '../../util/terminal.ts'
import { endOfTurn, eventNote, finishNote } from '../answer-view.ts'
import { describeFailure } from '../failure.ts'
import { MESSAGE_INDENT, roomOf } from '../io.ts'
import type { Io } from '../io.ts'
import { sourceList } from '../sources.ts'
import { markdownStream } from '../terminal/markdown.ts'
import { foldedLine, markOf, outputLines } from '../tool-call-view.ts'
import type { ToolCallRecord, ToolCalls } from '../tool-calls.ts'
import type { Events, Front } from './front.ts'

/** Characters of the reasoning that are shown while it arrives. */
const MOST_THOUGHT = 2000
const INDENT = 2

/**
 * Shows a turn to its end.
 *
 * @param refresh paints the text that has arrived but is not complete enough to be printed; absent: the same as before.
 * @returns the exit code of the turn.
 */
export async function showOnScreen(
  events: Events,
  calls: ToolCalls,
  front: Pick<Front, 'print' | 'note' | 'style'>,
  io: Io,
  refresh: (tail?: string) => void,
): Promise<number> {
  let stream: TextStream | undefined
  let tail = ''
  let step: number | undefined
  let last: QueryEvent | undefined

  for await (const event of events) {
    const call = calls.add(event)
    if (event.parent !== undefined) {
      if (event.type === 'tool_result' && call !== undefined) await front.print(`  ${shownCall(call)}`)
      refresh()
      continue
    }
    last = event
    if (ENDING.has(event.type) || (event.type === 'text_delta' && step !== undefined && step !== event.step)) await end()
    if (event.type === 'text_delta') {
      step = event.step
      await write(event.text)
    } else if (event.type === 'thinking') {
      tail = `${tail}${event.content}`.slice(-MOST_THOUGHT)
    } else if (event.type === 'tool_result' && call !== undefined) {
      await front.print(shownCall(call))
    } else if (event.type === 'error') {
      const failure = describeFailure(errorFromInfo(event.error, causeOf(event.error)), io.env)
      await front.print(`${front.style('red', wrapWords(failure, io.stdout.columns, MESSAGE_INDENT))}\n`)
    } else if (event.type === 'complete') {
      const { result } = event
      const why = finishNote(result)
      if (why !== undefined) await front.note(why)
      await front.print(await sourceList(result.citations ?? [], result.uncited ?? 0, io.stdout, { cwd: io.cwd }))
    }
    const text = eventNote(event)
    if (text !== undefined) await front.note(text)
    refresh(tail)
  }
  return endOfTurn(last).code

  function shownCall(call: ToolCallRecord): string {
    const { mark, colour } = markOf(call)
    const line = wrapWords(foldedLine(call), roomOf(io.stdout), INDENT)
    const folded = `${front.style(colour, mark)}${line.slice(mark.length)}\n`
    if (call.showsResult === true && call.isError === false) return `${folded}${indented(call.content, io)}\n`
    const output = outputLines(call)
    return output.length === 0 ? folded : `${folded}${front.style('dim', indented(output.join('\n'), io))}\n`
  }

  async function write(text: string): Promise<void> {
    if (stream === undefined) {
      tail = ''
      stream = await markdownStream({ width: () => io.stdout.columns, colour: io.stdout.colour })
    }
    const whole = stream.push(text)
    tail += text
    if (whole !== '') tail = tail.slice(tail.lastIndexOf('\n') + 1)
    refresh(tail)
    await front.print(whole)
  }

  async function end(): Promise<void> {
    const rest = stream?.finish() ?? ''
    stream = undefined
    step = undefined
    tail = ''
    refresh('')
    await front.print(rest)
  }
}

/** Events after which no more text of the current answer arrives. */
const ENDING: ReadonlySet<QueryEvent['type']> = new Set(['tool_request', 'message', 'reset', 'cancelled', 'error', 'complete'])

function indented(text: string, { stdout }: Pick<Io, 'stdout'>): string {
  const lines = visibleText(text.trimEnd())
    .split('\n')
    .map((line) => `  ${line}`)
  return wrapWords(lines.join('\n'), roomOf(stdout))
}
