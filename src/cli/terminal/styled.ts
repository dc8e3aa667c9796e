/** Text with styles in lines: it is broken between words, and each line begins and ends its own styles. */

import { cellsOf, graphemes, widthOf } from '../../util/cells.ts'
import { styledParts } from '../../util/terminal.ts'

/** What is not parted: a word, or one character of a script that is written without spaces. */
interface Unit {
  readonly text: string
  readonly width: number
  readonly afterSpace: boolean
}

const RESET = '\u001B[0m'
const SPACE = /^[ \t\n]+$/
// What a line does not begin with, as a Chinese or Japanese reader expects.
const NEVER_FIRST = /^[、。，．：；！？）」』】〉》〕］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ]/

/** Lines of at most `columns` cells, save for words that are longer; at least one. */
export function wrapStyled(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const unit of unitsOf(text)) {
    const gap = unit.afterSpace && unit.width > 0 && line !== '' ? 1 : 0
    if (line !== '' && unit.width > 0 && width + gap + unit.width > columns) {
      lines.push(line)
      line = unit.text
      width = unit.width
    } else {
      line += (gap === 1 ? ' ' : '') + unit.text
      width += gap + unit.width
    }
  }
  return withOwnStyles([...lines, line])
}

/** Cells of the longest word. */
export function longestWord(text: string): number {
  return unitsOf(text).reduce((longest, { width }) => Math.max(longest, width), 0)
}

export type Align = 'left' | 'right' | 'center'

/** A line with spaces before, behind or around it. */
export function padStyled(line: string, columns: number, align: Align): string {
  const room = Math.max(0, columns - widthOf(line))
  const before = align === 'left' ? 0 : align === 'right' ? room : Math.floor(room / 2)
  return ' '.repeat(before) + line + ' '.repeat(room - before)
}

function unitsOf(text: string): readonly Unit[] {
  const units: Unit[] = []
  let unit = { text: '', width: 0, afterSpace: false }
  let last = ''
  const next = (afterSpace: boolean): void => {
    const isEmpty = unit.width === 0
    if (!isEmpty) units.push(unit)
    // A style that nothing stands in yet belongs to what comes.
    unit = { text: isEmpty ? unit.text : '', width: 0, afterSpace: afterSpace || (isEmpty && unit.afterSpace) }
    last = ''
  }
  for (const [index, part] of styledParts(text).entries()) {
    if (index % 2 === 1) {
      unit.text += part
      continue
    }
    for (const grapheme of graphemes(part)) {
      if (SPACE.test(grapheme)) {
        next(true)
        continue
      }
      const isBetweenSigns = last !== '' && (cellsOf(last) === 2 || cellsOf(grapheme) === 2)
      if (isBetweenSigns && !NEVER_FIRST.test(grapheme)) next(false)
      unit.text += grapheme
      unit.width += cellsOf(grapheme)
      last = grapheme
    }
  }
  return unit.text === '' ? units : [...units, unit]
}

function withOwnStyles(lines: readonly string[]): readonly string[] {
  let open: readonly string[] = []
  return lines.map((line) => {
    const before = open.join('')
    for (const [index, part] of styledParts(line).entries()) if (index % 2 === 1) open = withStyle(open, part)
    return before + line + (open.length > 0 ? RESET : '')
  })
}

/** The styles that are on, after one more code. */
function withStyle(open: readonly string[], style: string): readonly string[] {
  const code = Number.parseInt(style.slice(2), 10) || 0
  if (code === 0) return []
  const isEnd = [22, 23, 24, 29, 39, 49].includes(code)
  return isEnd
    ? open.filter((each) => endOf(Number.parseInt(each.slice(2), 10)) !== code)
    : [...open.filter((each) => each !== style), style]
}

/** The code that ends a style (ECMA-48, SGR). */
function endOf(code: number): number {
  if (code === 1 || code === 2) return 22
  if (code === 9) return 29
  if (code < 10) return code + 20
  return (code >= 40 && code < 50) || code >= 100 ? 49 : 39
}
