/**
 * Emulates a terminal in memory: it interprets the output of a program and returns its screen. Unknown escape codes are recorded as
 * `strange`, so that a test fails if text of a model contains active ones.
 */

import { cellsOf, graphemes } from '../../src/util/cells.ts'

// eslint-disable-next-line no-control-regex
const SEQUENCE = /^\u001B\[(\??)([\d;]*)([A-Za-z])/

/** Timeout in milliseconds, longer than any expected wait of a test. */
const PATIENCE_MS = 10_000

/** Part of a line. */
export interface Drawn {
  readonly text: string
  readonly style: readonly number[]
}

/** Styles that a code switches off; another colour also switches a colour off. */
const ENDS: Readonly<Record<number, readonly number[]>> = { 22: [1, 2], 23: [3], 24: [4], 27: [7], 29: [9] }

function styled(style: readonly number[], codes: readonly number[]): number[] {
  let now = [...style]
  for (const code of codes) {
    const isColour = (each: number): boolean => (each >= 30 && each < 40) || (each >= 90 && each < 98)
    if (code === 0) now = []
    else if (isColour(code)) now = [...now.filter((each) => !isColour(each)), ...(code === 39 ? [] : [code])]
    else if (ENDS[code] !== undefined) now = now.filter((each) => ENDS[code]?.includes(each) !== true)
    else if (!now.includes(code)) now.push(code)
  }
  return now
}

export class VirtualTerminal {
  columns: number
  rows: number
  readonly strange: string[] = []
  bracketedPaste = false
  cursorVisible = true
  /** Number of bells. */
  bells = 0
  /** All lines; the last `rows` of them are the screen, except cleared ones. */
  #lines: string[][] = [[]]
  /** Number of lines that were cleared into the scrollback. */
  #scrolled = 0
  /** Rows that continue a wrapped line. */
  readonly #wrapped = new Set<number>()
  /** Style of each cell. */
  readonly #styles = new Map<string[], number[][]>()
  #style: number[] = []
  #row = 0
  #column = 0
  #waiting = new Set<() => void>()

  constructor(columns = 80, rows = 24) {
    this.columns = columns
    this.rows = rows
  }

  write(text: string): void {
    let rest = text
    while (rest !== '') {
      const plain = /^[^\p{Cc}]+/u.exec(rest)?.[0]
      if (plain !== undefined) {
        for (const grapheme of graphemes(plain)) this.#put(grapheme)
        rest = rest.slice(plain.length)
        continue
      }
      rest = rest.slice(this.#obey(rest))
    }
    for (const look of this.#waiting) look()
  }

  /** Returns all text, including the scrollback; wrapped lines are joined. */
  get text(): string {
    return this.#lines
      .map((line, row) => (this.#wrapped.has(row + 1) ? line.join('') : `${line.join('').trimEnd()}\n`))
      .join('')
      .trimEnd()
  }

  /** Returns the visible text. */
  get screen(): string {
    return this.#lines
      .slice(this.#top)
      .map((line) => line.join('').trimEnd())
      .join('\n')
      .trimEnd()
  }

  /** Returns the lines in pieces of equal style, with their style codes (ECMA-48, SGR). */
  get drawn(): readonly (readonly Drawn[])[] {
    return this.#lines.map((line) => {
      const styles = this.#styles.get(line) ?? []
      const pieces: { text: string; style: readonly number[] }[] = []
      for (const [at, text] of line.entries()) {
        const style = styles[at] ?? []
        const last = pieces.at(-1)
        if (last !== undefined && String(last.style) === String(style)) last.text += text
        else pieces.push({ text, style })
      }
      return pieces
    })
  }

  get cursor(): { readonly row: number; readonly column: number; readonly line: string } {
    return { row: this.#row, column: this.#column, line: (this.#lines[this.#row] ?? []).join('').trimEnd() }
  }

  /** Resolves when the text is on the screen; a text without line ends also matches if it is wrapped. */
  shows(what: string | RegExp | (() => boolean)): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look)
        reject(new Error(`${String(what)} was not shown; what was shown:\n${this.text}`))
      }, PATIENCE_MS)
      const look = (): void => {
        const { text } = this
        const found = typeof what === 'function' ? what() : typeof what === 'string' ? includesText(text, what) : what.test(text)
        if (!found) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  #put(grapheme: string): void {
    const cells = cellsOf(grapheme)
    if (this.#column + cells > this.columns) {
      this.#newLine()
      this.#wrapped.add(this.#row)
      this.#column = 0
    }
    const line = this.#line()
    const styles = this.#styles.get(line) ?? []
    this.#styles.set(line, styles)
    for (let at = 0; at < Math.max(1, cells); at++) styles[this.#column + at] = this.#style
    for (let at = line.length; at < this.#column; at++) {
      line.push(' ')
      styles[at] = []
    }
    if (cells === 0) line[this.#column - 1] = `${line[this.#column - 1] ?? ''}${grapheme}`
    else line.splice(this.#column, cells, grapheme, ...Array.from({ length: cells - 1 }, () => ''))
    this.#column += cells
  }

  get #top(): number {
    return Math.max(this.#scrolled, this.#lines.length - this.rows)
  }

  #line(): string[] {
    const line = this.#lines[this.#row] ?? []
    this.#lines[this.#row] = line
    return line
  }

  #newLine(): void {
    this.#row++
    this.#line()
  }

  #obey(rest: string): number {
    const [first = ''] = rest
    if (first === '\n') {
      this.#newLine()
      this.#column = 0
      return 1
    }
    if (first === '\u0007') {
      this.bells++
      return 1
    }
    if (first === '\r') {
      this.#column = 0
      return 1
    }
    const [sequence, mark, parameters = '', name = ''] = SEQUENCE.exec(rest) ?? []
    if (sequence === undefined) {
      this.strange.push(rest.slice(0, 20))
      return 1
    }
    this.#command(`${mark ?? ''}${name}`, parameters, sequence)
    return sequence.length
  }

  #command(name: string, parameters: string, sequence: string): void {
    const count = Math.max(1, Number(parameters))
    const top = this.#top
    if (name === 'A') this.#row = Math.max(top, this.#row - count)
    else if (name === 'C') this.#column = Math.min(this.columns - 1, this.#column + count)
    else if (name === 'H' && parameters === '') [this.#row, this.#column] = [top, 0]
    // As tmux and others do, which keep what is cleared: with 2J, and when everything is erased from the first cell on.
    else if (name === 'J' && (parameters === '2' || (parameters === '' && this.#row === top && this.#column === 0))) {
      this.#scrolled = this.#lines.length
      this.#row += this.#scrolled - top
      while (this.#lines.length <= this.#row) this.#lines.push([])
    } else if (name === 'J' && parameters === '') {
      this.#line().length = Math.min(this.#line().length, this.#column)
      this.#lines.length = this.#row + 1
      for (const row of this.#wrapped) if (row > this.#row) this.#wrapped.delete(row)
    } else if (name === 'K' && parameters === '') this.#line().length = Math.min(this.#line().length, this.#column)
    else if ((name === '?h' || name === '?l') && parameters === '25') this.cursorVisible = name === '?h'
    else if ((name === '?h' || name === '?l') && parameters === '2004') this.bracketedPaste = name === '?h'
    else if (name === 'm') this.#style = styled(this.#style, parameters.split(';').map(Number))
    else this.strange.push(sequence)
  }
}

function includesText(text: string, what: string): boolean {
  return text.includes(what) || (!what.includes('\n') && text.replaceAll(/\n {2,6}(?=\S)/g, ' ').includes(what))
}
