/** Measures text in terminal cells, and breaks plain text into rows. */

// East Asian wide and full-width blocks, and characters drawn as emoji.
const WIDE =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|\p{Emoji}\uFE0F)/u
// Characters without a cell: combining marks, format characters (some of which are drawn, and excluded here), and later parts of a Korean
// syllable. Spacing vowel signs, such as those of Hindi, have a cell.
const NO_CELL = /^(?![\u00AD\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2])[\p{Mn}\p{Me}\p{Cf}\u1160-\u11FF\uD7B0-\uD7FF]/u
const ASCII = /^[ -~]*$/
// eslint-disable-next-line no-control-regex
const STYLES = /\u001B\[[\d;]*m/g

let segmenter: Intl.Segmenter | undefined

/** Splits text into graphemes: units that a reader sees as one character. */
export function graphemes(text: string): readonly string[] {
  if (ASCII.test(text)) return [...text]
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Returns the cells of a grapheme. Most terminals draw the characters of a syllable side by side, but those of an emoji as one. */
export function cellsOf(grapheme: string): number {
  if (ASCII.test(grapheme)) return grapheme.length
  if (WIDE.test(grapheme)) return 2
  let cells = 0
  for (const character of grapheme) if (!NO_CELL.test(character)) cells++
  return cells
}

/** Returns the cells of a line without control characters; styles do not count. */
export function widthOf(line: string): number {
  const plain = line.replaceAll(STYLES, '')
  if (ASCII.test(plain)) return plain.length
  return graphemes(plain).reduce((width, grapheme) => width + cellsOf(grapheme), 0)
}

/** Cuts a plain line to at most `columns` cells, and marks a cut with an ellipsis. */
export function fit(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  let width = 1
  let shown = ''
  for (const grapheme of graphemes(line)) {
    width += cellsOf(grapheme)
    if (width > columns) break
    shown += grapheme
  }
  return columns < 1 ? '' : `${shown}…`
}

/** Splits a plain line into rows of at most `columns` cells, between any two graphemes; an empty line is one row. */
export function rowsOf(line: string, columns: number): readonly string[] {
  if (widthOf(line) <= columns) return [line]
  const rows: string[] = []
  let row = ''
  let width = 0
  for (const part of graphemes(line).flatMap((grapheme) => partsOf(grapheme, columns))) {
    const cells = cellsOf(part)
    if (width + cells > columns && row !== '') {
      rows.push(row)
      row = ''
      width = 0
    }
    row += part
    width += cells
  }
  return [...rows, row]
}

/** Returns the grapheme, or its characters when it is wider than a row. */
export function partsOf(grapheme: string, columns: number): readonly string[] {
  return cellsOf(grapheme) <= columns ? [grapheme] : [...grapheme]
}

/** Wraps text to `columns` cells; longer words are not split. Continued lines keep the indent of their line, or have `indent` spaces. */
export function wrapWords(text: string, columns: number, indent = 0): string {
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns, ' '.repeat(indent), false))
    .join('\n')
}

/** Wraps plain text into rows of at most `columns` cells; splits words that are longer than a row. */
export function wrappedRows(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, columns, '', true))
}

function wrapLine(line: string, columns: number, indent: string, cutsWords: boolean): readonly string[] {
  if (widthOf(line) <= columns) return [line]
  const own = /^ */.exec(line)?.[0] ?? ''
  const rows: string[] = []
  let row = own
  for (const [index, word] of line.slice(own.length).split(' ').entries()) {
    if (index > 0 && widthOf(row) + 1 + widthOf(word) > columns) {
      rows.push(row)
      row = (own === '' ? indent : own) + word
    } else {
      row += index === 0 ? word : ` ${word}`
    }
    if (!cutsWords || widthOf(row) <= columns) continue
    const pieces = rowsOf(row, columns)
    row = pieces.at(-1) ?? ''
    for (const piece of pieces.slice(0, -1)) rows.push(piece)
  }
  return [...rows, row]
}
