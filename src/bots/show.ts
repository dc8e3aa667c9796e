/** Shows a stream of text to a person while it comes. */

import type { QueryEvent } from '../core/event.ts'
import { visibleStream, visibleText } from '../util/terminal.ts'
import type { StreamTarget } from './options.ts'

/** Gets each delta; `reset` takes everything back where the target can. */
export interface Display {
  readonly canTakeBack: boolean
  delta(text: string): void
  reset(): void
  end(): void
}

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

export function displayFor(target: StreamTarget, output: Output): Display {
  if (target === 'panel' && output.isTTY === true) return new Panel(output)
  return target === 'stdout' || target === 'panel' ? new Lines(output) : NOWHERE
}

/** Lets every event pass and shows its text on the way. */
export async function* shown(events: AsyncIterable<QueryEvent>, display: Display): AsyncGenerator<QueryEvent, void, undefined> {
  try {
    for await (const event of events) {
      if (event.parent !== undefined) {
        yield event
        continue
      }
      if (event.type === 'text_delta') display.delta(event.text)
      else if (event.type === 'reset') display.reset()
      yield event
    }
  } finally {
    display.end()
  }
}

const NOWHERE: Display = { canTakeBack: true, delta: () => {}, reset: () => {}, end: () => {} }

/** Deltas as they arrive. What was written stays written. */
class Lines implements Display {
  readonly canTakeBack = false
  readonly #output: Output
  readonly #visible = visibleStream()
  #last = '\n'

  constructor(output: Output) {
    this.#output = output
  }

  delta(text: string): void {
    // A pipe gets the text as it is; a terminal would obey it.
    this.#write(this.#output.isTTY === true ? this.#visible.push(text) : text)
  }

  #write(text: string): void {
    if (text === '') return
    this.#output.write(text)
    this.#last = text.at(-1) ?? this.#last
  }

  reset(): void {
    if (this.#last !== '\n') this.#output.write('\n')
    this.#last = '\n'
  }

  end(): void {
    this.#write(this.#visible.finish())
    this.reset()
  }
}

/** A box that is drawn again as the text grows, as far as it fits the screen. */
class Panel implements Display {
  readonly canTakeBack = true
  readonly #output: Output
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

  end(): void {
    this.#drawn = 0
  }

  #draw(): void {
    const width = Math.max(20, (this.#output.columns ?? 80) - 4)
    // What has left the screen cannot be drawn again: a tall answer shows its end.
    const lines = wrapped(visibleText(this.#text), width).slice(-Math.max(1, (this.#output.rows ?? 24) - 3))
    const box = [`╭${'─'.repeat(width + 2)}╮`, ...lines.map((line) => `│ ${line.padEnd(width)} │`), `╰${'─'.repeat(width + 2)}╯`]
    const back = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\u001b[0J`
    this.#output.write(`${back}${box.join('\n')}\n`)
    this.#drawn = box.length
  }
}

function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const rows: string[] = []
    let row = ''
    for (const word of line.split(/(?<=\s)/)) {
      if (row !== '' && row.length + word.trimEnd().length > width) {
        rows.push(row.trimEnd())
        row = ''
      }
      row += word
      while (row.length > width) {
        rows.push(row.slice(0, width))
        row = row.slice(width)
      }
    }
    return [...rows, row.trimEnd()]
  })
}
