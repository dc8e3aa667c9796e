/** Help texts on a terminal: broken between words, each part goes on under its column. */

import type { HelpLayout } from '../help.ts'
import { fitTable } from './tables.ts'
import { wrapWords } from '../../util/cells.ts'
import { widthOf } from '../../util/cells.ts'

const INDENT = 4

/** @param columns of the terminal; default as where it does not know. */
export function helpLayout(columns = 80): HelpLayout {
  return {
    table: (rows) => {
      // The names of options are not broken, as long as what they mean has room beside them.
      const held = rows.map(([left, right]) => [`  ${left}`.replaceAll(' ', '\u00A0'), right])
      return fitTable(held, [], columns).trimEnd()
    },
    text: (text) =>
      text
        .split('\n\n')
        .map((paragraph) => reflowed(paragraph, columns))
        .join('\n\n'),
    command: (line) => brokenCommand(line, columns),
  }
}

/** A paragraph is laid out anew where a line of it is too long: broken one by one, each would leave a short rest. */
function reflowed(paragraph: string, columns: number): string {
  if (paragraph.split('\n').every((line) => widthOf(line) <= columns)) return paragraph
  return wrapWords(paragraph.replaceAll('\n', ' '), columns)
}

// An option and its value, or a word of the shell.
const PARTS = /(?:--?[\w-]+ (?=[^-\s]))?(?:"[^"]*"|'[^']*'|[^\s"'])+/g

/** Between words of the shell, so that what is copied is still one command. */
function brokenCommand(line: string, columns: number): string {
  if (widthOf(line) + 2 <= columns) return `  ${line}`
  const rows: string[] = []
  let row = ' '
  for (const [part] of line.matchAll(PARTS)) {
    const isFirst = row.trim() === ''
    if (!isFirst && widthOf(row) + 1 + widthOf(part) + 2 > columns) {
      rows.push(`${row} \\`)
      row = ' '.repeat(INDENT - 1)
    }
    row += ` ${part}`
  }
  return [...rows, row].join('\n')
}
