/** Breaks lines between words, so that a terminal does not break them within. */

import { widthOf } from '../../util/cells.ts'

/** Lines of at most `columns` cells, save for words that are longer. A line goes on under its own indent, else with `indent` spaces. */
export function wrapWords(text: string, columns: number, indent = 0): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns, ' '.repeat(indent)))
    .join('\n')
}

function wrapLine(line: string, columns: number, indent: string): string {
  if (widthOf(line) <= columns) return line
  const own = /^ */.exec(line)?.[0] ?? ''
  const [first = '', ...others] = line.slice(own.length).split(' ')
  const rows: string[] = []
  let row = own + first
  for (const word of others) {
    if (widthOf(row) + 1 + widthOf(word) > columns) {
      rows.push(row)
      row = (own === '' ? indent : own) + word
    } else {
      row += ` ${word}`
    }
  }
  return [...rows, row].join('\n')
}
