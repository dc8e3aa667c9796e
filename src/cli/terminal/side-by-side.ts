/** Draws two growing texts in two columns, as far as they fit the screen; a tall text shows its end while it grows. */

import { visibleText } from '../../util/terminal.ts'
import type { Channel } from '../io.ts'
import { rowsOf, widthOf } from '../../util/cells.ts'
import { wrapWords } from './wrap.ts'

const BETWEEN = ' │ '
/** Narrower columns cannot be read: the texts are then written one below the other. */
export const LEAST_COLUMNS = 60

export interface Column {
  readonly title: string
  readonly text: string
}

/** @param columns cells of the screen. */
export function sideBySide(left: Column, right: Column, columns: number): readonly string[] {
  const width = Math.max(10, Math.floor((columns - BETWEEN.length) / 2))
  const cells = ({ title, text }: Column): readonly string[] => {
    const lines = wrapWords(visibleText(text).replaceAll('\t', '    '), width).split('\n')
    return [title, '─'.repeat(width), ...lines.flatMap((line) => rowsOf(line, width))]
  }
  const [one, other] = [cells(left), cells(right)]
  return Array.from({ length: Math.max(one.length, other.length) }, (_, row) => {
    const cell = one[row] ?? ''
    return `${cell}${' '.repeat(Math.max(0, width - widthOf(cell)))}${BETWEEN}${other[row] ?? ''}`.trimEnd()
  })
}

/** Draws anew over what it has drawn, at most every `every` milliseconds. */
export class LiveColumns {
  readonly #channel: Pick<Channel, 'columns' | 'rows' | 'writeRaw'>
  readonly #every: number
  #drawn = 0
  #drawnAt = -Infinity

  constructor(channel: Pick<Channel, 'columns' | 'rows' | 'writeRaw'>, every = 80) {
    this.#channel = channel
    this.#every = every
  }

  async update(left: Column, right: Column, now: number): Promise<void> {
    if (now - this.#drawnAt < this.#every) return
    this.#drawnAt = now
    // What has left the screen cannot be drawn again.
    await this.#draw(sideBySide(left, right, this.#channel.columns).slice(-Math.max(1, this.#channel.rows - 2)))
  }

  /** Both whole texts. */
  async finish(left: Column, right: Column): Promise<void> {
    await this.#draw(sideBySide(left, right, this.#channel.columns))
  }

  async #draw(rows: readonly string[]): Promise<void> {
    const back = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\u001b[0J`
    await this.#channel.writeRaw(`${back}${rows.join('\n')}\n`)
    this.#drawn = rows.length
  }
}
