/** Breaks lines between words, so that a terminal does not break them within. */

import { widthOf } from './width.ts'

/** Lines of at most `columns` cells, save for words that are longer. What was one line goes on with `indent` spaces. */
export function wrapWords(text: string, columns: number, indent = 0): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns, ' '.repeat(indent)))
    .join('\n')
}

function wrapLine(line: string, columns: number, indent: string): string {
  if (widthOf(line) <= columns) return line
  const rows: string[] = []
  let row = ''
  for (const word of line.split(' ')) {
    if (row !== '' && widthOf(row) + 1 + widthOf(word) > columns) {
      rows.push(row)
      row = `${indent}${word}`
    } else {
      row = rows.length === 0 && row === '' ? word : `${row} ${word}`
    }
  }
  return [...rows, row].join('\n')
}
