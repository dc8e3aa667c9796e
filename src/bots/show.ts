/** Shows the text of an answer to a person while it comes. */

import type { QueryEvent } from '../core/event.ts'
import { rowsOf, widthOf } from '../util/cells.ts'
import { visibleStream, visibleText } from '../util/terminal.ts'
import type { StreamTarget } from './options.ts'

/** Where the text of a turn is shown. */
export interface Display {
  delta(text: string): void
  /** Takes back what was shown since the last `settle`. */
  reset(): void
  /** What was shown stays: the step that said it is over. */
  settle(): void
  end(): void
}

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** `undefined` for targets that show nothing. */
export function displayFor(target: StreamTarget, output: Output): Display | undefined {
  if (target === 'panel' && output.isTTY === true) return new Panel(output)
  return target === 'stdout' || target === 'panel' ? new Lines(output) : undefined
}

/** Passes every event on and shows its text on the way. */
export async function* shown(events: AsyncIterable<QueryEvent>, display: Display): AsyncGenerator<QueryEvent, void, undefined> {
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

/** Writes deltas as they arrive. */
class Lines implements Display {
  readonly #output: Output
  readonly #isTerminal: boolean
  #visible = visibleStream()
  /** The unfinished line that was there when the step began, and what the step has shown since. */
  #before = ''
  #text = ''

  constructor(output: Output) {
    this.#output = output
    this.#isTerminal = output.isTTY === true
  }

  delta(text: string): void {
    // A pipe gets the text as it is; a terminal would obey it.
    this.#write(this.#isTerminal ? this.#visible.push(text) : text)
  }

  #write(text: string): void {
    if (text === '') return
    this.#output.write(text)
    this.#text += text
  }

  /** On a terminal the text is struck out; a pipe cannot take it back, and a line says that it starts again. */
  reset(): void {
    if (this.#text === '') return
    if (this.#isTerminal) this.#output.write(this.#struckOut())
    else this.#output.write(`${this.#isAtStart() ? '' : '\n'}${STARTS_AGAIN}\n`)
    this.#visible = visibleStream()
    this.#before = ''
    this.#text = ''
  }

  /** Writes over the rows that are still on the screen: the same text in the same cells, so that nothing has to be cleared. */
  #struckOut(): string {
    const columns = Math.max(1, this.#output.columns ?? 80)
    const rows = (this.#before + this.#text).split('\n').flatMap((line) => rowsOf(line.replaceAll('\t', ' '.repeat(8)), columns))
    const reachable = Math.min(rows.length, Math.max(1, (this.#output.rows ?? 24) - 1))
    const up = reachable === 1 ? '' : `${ESC}[${reachable - 1}A`
    const isWhole = reachable === rows.length
    const kept = isWhole ? this.#before : ''
    const struck = (isWhole ? this.#text : rows.slice(-reachable).join('\n')).replace(/\n$/, '')
    const lines = struck.split('\n').map((line) => (line === '' ? '' : `${ESC}[9m${line}${ESC}[29m`))
    return `\r${up}${kept}${lines.join('\n')}\n`
  }

  settle(): void {
    this.#write(this.#isTerminal ? this.#visible.finish() : '')
    const shown = this.#before + this.#text
    this.#before = shown.slice(shown.lastIndexOf('\n') + 1)
    this.#text = ''
  }

  end(): void {
    this.settle()
    if (this.#before !== '') this.#output.write('\n')
    this.#before = ''
  }

  #isAtStart(): boolean {
    return (this.#before + this.#text).endsWith('\n')
  }
}

/** Draws a box again as the text grows, as far as it fits the screen. */
class Panel implements Display {
  readonly #output: Output
  #settled = ''
  #text = ''
  #drawn = 0

  constructor(output: Output) {
    this.#output = output
  }

  delta(text: string): void {
    this.#text += text
    this.#draw()
  }

  reset(): void {
    this.#text = ''
    this.#draw()
  }

  settle(): void {
    this.#settled += this.#text
    this.#text = ''
  }

  end(): void {
    this.#drawn = 0
  }

  #draw(): void {
    const width = Math.max(20, (this.#output.columns ?? 80) - 4)
    // What has left the screen cannot be drawn again: a tall answer shows its end.
    const lines = wrapped(visibleText(this.#settled + this.#text), width).slice(-Math.max(1, (this.#output.rows ?? 24) - 3))
    const edge = '─'.repeat(width + 2)
    const padded = lines.map((line) => `│ ${line}${' '.repeat(Math.max(0, width - widthOf(line)))} │`)
    const box = [`╭${edge}╮`, ...padded, `╰${edge}╯`]
    const back = this.#drawn === 0 ? '' : `${ESC}[${this.#drawn}A${ESC}[0J`
    this.#output.write(`${back}${box.join('\n')}\n`)
    this.#drawn = box.length
  }
}

/** Rows of at most `width` cells, broken between words where that is possible. */
function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const rows: string[] = []
    let row = ''
    for (const word of line.replaceAll('\t', '    ').split(/(?<=\s)/)) {
      if (row !== '' && widthOf(row) + widthOf(word.trimEnd()) > width) {
        rows.push(row.trimEnd())
        row = ''
      }
      const pieces = rowsOf(row + word.trimEnd(), width)
      rows.push(...pieces.slice(0, -1))
      row = (pieces.at(-1) ?? '') + word.slice(word.trimEnd().length)
    }
    return [...rows, row.trimEnd()]
  })
}
