/**
 * The screen of the chat: what is said goes into the terminal's own scrollback and is never touched again; below it stand a few rows that
 * are painted anew. Nothing takes over the whole screen, so scrolling, selecting and searching stay the terminal's.
 */

import { widthOf } from '../../util/cells.ts'
import type { Channel } from '../io.ts'
import type { Painting } from './layout.ts'

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
