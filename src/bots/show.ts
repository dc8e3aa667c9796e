/** Prints the text of an answer to a terminal or stream while it arrives. */

import type { QueryEvent } from '../core/event.ts'
import { rowsOf, widthOf, wrappedRows } from '../util/cells.ts'
import { visibleStream, visibleText } from '../util/terminal.ts'
import type { StreamTarget } from './options.ts'

interface Display {
  delta(text: string): void
  /** Retracts the text shown since the last `settle`. */
  reset(): void
  /** Makes the shown text final: its step is complete. */
  settle(): void
  end(): void
}

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** Passes every event on and prints its text if the target is `stdout` or `panel`. */
export function shown(events: AsyncIterable<QueryEvent>, target: StreamTarget, output: Output): AsyncIterable<QueryEvent> {
  if (target !== 'stdout' && target !== 'panel') return events
  return displayed(events, target === 'panel' && output.isTTY === true ? panel(output) : lines(output))
}

async function* displayed(events: AsyncIterable<QueryEvent>, display: Display): AsyncGenerator<QueryEvent, void, undefined> {
  try {
    for await (const event of events) {
      if (event.parent === undefined) {
        if (event.type === 'text_delta') display.delta(event.text)
        else if (event.type === 'reset') display.reset()
        else if (event.type === 'message') display.settle()
      }
      yield event
    }
  } finally {
    display.end()
  }
}

const ESC = '\u001B'
const STARTS_AGAIN = '[The answer broke off here. It starts again:]'

/** Writes deltas as they arrive. Retracted text is struck out on a terminal; a pipe receives a line that the answer starts again. */
function lines(output: Output): Display {
  const isTerminal = output.isTTY === true
  let visible = visibleStream()
  /** The unfinished line from before the step, and the text of the step so far. */
  let before = ''
  let text = ''

  const write = (piece: string): void => {
    if (piece !== '') output.write(piece)
    text += piece
  }
  /** Overwrites the rows that are still on the screen with the same text struck out, so that nothing has to be cleared. */
  const struckOut = (): string => {
    const columns = Math.max(1, output.columns ?? 80)
    const rows = (before + text).split('\n').flatMap((line) => rowsOf(line.replaceAll('\t', ' '.repeat(8)), columns))
    const reachable = Math.min(rows.length, Math.max(1, (output.rows ?? 24) - 1))
    const up = reachable === 1 ? '' : `${ESC}[${reachable - 1}A`
    const isWhole = reachable === rows.length
    const struck = (isWhole ? text : rows.slice(-reachable).join('\n')).replace(/\n$/, '')
    const again = struck.split('\n').map((line) => (line === '' ? '' : `${ESC}[9m${line}${ESC}[29m`))
    return `\r${up}${isWhole ? before : ''}${again.join('\n')}\n`
  }
  const settle = (): void => {
    if (isTerminal) write(visible.finish())
    before = (before + text).replace(/^[^]*\n/, '')
    text = ''
  }
  return {
    // A pipe receives the text unchanged; for a terminal, escape sequences are made visible.
    delta: (piece) => write(isTerminal ? visible.push(piece) : piece),
    reset() {
      if (text === '') return
      const isAtStart = (before + text).endsWith('\n')
      output.write(isTerminal ? struckOut() : `${isAtStart ? '' : '\n'}${STARTS_AGAIN}\n`)
      visible = visibleStream()
      before = ''
      text = ''
    },
    settle,
    end() {
      settle()
      if (before !== '') output.write('\n')
      before = ''
    },
  }
}

/** Draws the text in a box and redraws it as the text grows, up to the height of the screen. */
function panel(output: Output): Display {
  let settled = ''
  let text = ''
  let drawn = 0

  const draw = (): void => {
    const width = Math.max(20, (output.columns ?? 80) - 4)
    const wrapped = wrappedRows(visibleText(settled + text).replaceAll('\t', '    '), width)
    // Rows that have scrolled off cannot be redrawn: only the end of a tall answer is shown.
    const rows = wrapped.slice(-Math.max(1, (output.rows ?? 24) - 3))
    const edge = '─'.repeat(width + 2)
    const padded = rows.map((row) => `│ ${row}${' '.repeat(Math.max(0, width - widthOf(row)))} │`)
    const box = [`╭${edge}╮`, ...padded, `╰${edge}╯`]
    output.write(`${drawn === 0 ? '' : `${ESC}[${drawn}A${ESC}[0J`}${box.join('\n')}\n`)
    drawn = box.length
  }
  return {
    delta(piece) {
      text += piece
      draw()
    },
    reset() {
      text = ''
      draw()
    },
    settle() {
      settled += text
      text = ''
    },
    end() {
      drawn = 0
    },
  }
}
