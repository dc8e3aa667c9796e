/** Tables of ours on a terminal that is too narrow for them: broken between words, each cell goes on under its column. Pure. */

import { columnWidths } from './column-widths.ts'
import { padStyled, wrapStyled } from './styled.ts'
import { widthOf } from '../../util/cells.ts'

const GAP = 2

// A cell is broken at its spaces, but not at those it begins with.
const HELD = /^\u00A0+/
const spaces = (held: string): string => ' '.repeat(held.length)

function withHeldIndent(cell: string): string {
  return cell.replace(/^ +/, (indent) => '\u00A0'.repeat(indent.length))
}

/** Columns that stand side by side. */
interface Band {
  readonly indent: number
  readonly columns: readonly { readonly at: number; readonly width: number }[]
}

/**
 * Lines of at most `columns` cells, save for words that are longer. Where the words of a row have no room side by side, the columns that are
 * too many stand below, under the second one.
 *
 * @param right columns that are aligned to the right.
 */
export function fitTable(rows: readonly (readonly string[])[], right: readonly number[], columns: number): string {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const all = rows.map((row) => Array.from({ length: count }, (_, index) => withHeldIndent(row[index] ?? '')))
  const inOne = columnWidths(all, columns - GAP * (count - 1))
  const bands =
    inOne === undefined ? bandsOf(all, count, columns) : [{ indent: 0, columns: inOne.map((width, at) => ({ at, width })) }]
  return all
    .flatMap((row) => bands.flatMap((band) => linesOf(row, band, right)))
    .map((line) => `${line}\n`)
    .join('')
}

function bandsOf(rows: readonly (readonly string[])[], count: number, columns: number): readonly Band[] {
  const widths = Array.from({ length: count }, (_, at) => Math.max(0, ...rows.map((row) => widthOf(row[at] ?? ''))))
  const second = (widths[0] ?? 0) + GAP
  const below = second <= columns / 2 ? second : Math.floor(columns / 3)
  const bands: { indent: number; columns: { at: number; width: number }[] }[] = [{ indent: 0, columns: [] }]
  let taken = 0
  for (const [at, width] of widths.entries()) {
    const band = bands.at(-1)
    if (band !== undefined && (at === 0 || taken + GAP + width <= columns)) {
      band.columns.push({ at, width: Math.min(width, columns) })
      taken += (at === 0 ? 0 : GAP) + width
    } else {
      bands.push({ indent: below, columns: [{ at, width: Math.min(width, columns - below) }] })
      taken = below + width
    }
  }
  return bands
}

function linesOf(row: readonly string[], { indent, columns }: Band, right: readonly number[]): readonly string[] {
  const cells = columns.map(({ at, width }) => {
    const cell = row[at] ?? ''
    return wrapStyled(cell, width).map((line) => line.replace(HELD, spaces))
  })
  const height = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) => {
    const shown = cells.map((lines, index) => {
      const { at = 0, width = 0 } = columns[index] ?? {}
      return padStyled(lines[line] ?? '', width, right.includes(at) ? 'right' : 'left')
    })
    return `${' '.repeat(indent)}${shown.join(' '.repeat(GAP))}`.trimEnd()
  }).filter((line, index) => index > 0 || line !== '')
}
