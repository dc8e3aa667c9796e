/** Draws a turn: the answer while it comes, and each tool call on one line when it has ended. */

import { CriaError, errorFromInfo } from '../../core/error.ts'
import { isTerminal } from '../../core/event.ts'
import type { QueryEvent, QueryResult } from '../../core/event.ts'
import { causeOf } from '../../engine/to-the-end.ts'
import { visibleText } from '../../util/terminal.ts'
import type { TextStream } from '../../util/terminal.ts'
import { eventNote, finishNote } from '../event-notes.ts'
import { EXIT, EXIT_CODES } from '../exit-codes.ts'
import { describeFailure } from '../failure.ts'
import { MESSAGE_INDENT } from '../io.ts'
import { sourceList } from '../source-list.ts'
import type { Io } from '../io.ts'
import { markdownStream } from '../terminal/markdown.ts'
import { wrapWords } from '../../util/cells.ts'
import type { Calls } from './calls.ts'
import { outputLines } from '../deeds-view.ts'
import { foldedLine, stateOf } from './fold.ts'
import type { CallState, FoldedCall } from './fold.ts'

export interface TurnTarget {
  readonly io: Io
  /** Writes what stays. @param text fit for a terminal. */
  readonly tell: (text: string) => Promise<void>
  note(text: string): Promise<void>
  /** What stands below until it is whole. */
  setTail(tail: string): void
  refresh(): void
}

const STYLES: Readonly<Record<CallState, 'green' | 'red' | 'yellow'>> = { done: 'green', failed: 'red', refused: 'yellow' }

/** Resolves to the exit code that the turn deserves. */
export async function showOnScreen(events: AsyncIterable<QueryEvent>, calls: Calls, target: TurnTarget): Promise<number> {
  const { io, tell } = target
  const style: Io['stdout']['style'] = (name, text) => io.stdout.style(name, text)
  let stream: TextStream | undefined
  let tail = ''
  let step: number | undefined
  let last: QueryEvent | undefined

  for await (const event of events) {
    const call = calls.add(event)
    if (event.parent !== undefined) {
      if (event.type === 'tool_result' && call !== undefined) await tell(`  ${shownCall(call)}`)
      target.refresh()
      continue
    }
    last = event
    switch (event.type) {
      case 'text_delta':
        if (step !== undefined && step !== event.step) await end()
        step = event.step
        await write(event.text)
        break
      case 'thinking':
        tail = `${tail}${event.content}`.slice(-2000)
        target.setTail(tail)
        break
      case 'tool_request':
        await end()
        break
      case 'tool_result':
        if (call !== undefined) {
          await tell(shownCall(call))
        }
        break
      case 'message':
      case 'reset':
      case 'cancelled':
        await end()
        break
      case 'error':
        await end()
        await tell(
          `${style('red', wrapWords(describeFailure(errorFromInfo(event.error, causeOf(event.error)), io.env), io.stdout.columns, MESSAGE_INDENT))}\n`,
        )
        break
      case 'complete':
        await end()
        await tellResult(event.result)
        break
      default:
        break
    }
    const told = eventNote(event)
    if (told !== undefined) await target.note(told)
    target.refresh()
  }
  if (last === undefined || !isTerminal(last)) throw new CriaError('stream_interrupted', 'The turn ended without saying how.')
  if (last.type === 'error') return EXIT_CODES[last.error.code]
  return last.type === 'cancelled' ? EXIT.interrupted : EXIT.done

  function shownCall(call: FoldedCall): string {
    const line = wrapWords(foldedLine(call), io.stdout.isTerminal ? io.stdout.columns : Infinity, CALL_INDENT)
    const folded = `${style(STYLES[stateOf(call)], line.slice(0, 1))}${line.slice(1)}\n`
    // The list is meant for the user as much as for the model.
    if (call.name === 'todo' && call.isError === false) return `${folded}${indented(call.content)}`
    const output = outputLines(call, call.content)
    return output.length === 0 ? folded : `${folded}${style('dim', indented(output.join('\n')).trimEnd())}\n`
  }

  async function write(text: string): Promise<void> {
    if (stream === undefined) {
      tail = ''
      stream = await markdownStream({ width: () => io.stdout.columns, colour: io.stdout.colour })
    }
    const whole = stream.push(text)
    tail += text
    if (whole !== '') tail = tail.slice(tail.lastIndexOf('\n') + 1)
    target.setTail(tail)
    await tell(whole)
  }

  async function end(): Promise<void> {
    const rest = stream?.finish() ?? ''
    stream = undefined
    step = undefined
    tail = ''
    target.setTail('')
    await tell(rest === '' || rest.endsWith('\n') ? rest : `${rest}\n`)
  }

  async function tellResult(result: QueryResult): Promise<void> {
    const why = finishNote(result)
    if (why !== undefined) await target.note(why)
    await tell(await sourceList(result.citations ?? [], result.uncited ?? 0, io.stdout, { cwd: io.cwd }))
  }
}

const CALL_INDENT = 2

function indented(text: string): string {
  return visibleText(text.trimEnd())
    .split('\n')
    .map((line) => `  ${line}\n`)
    .join('')
}
