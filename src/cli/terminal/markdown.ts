/** Renders Markdown for a terminal line by line as it arrives; printed text is never changed. */

import { onlyStyles, visibleStream, withoutControlReferences } from '../../util/terminal.ts'
import type { TextStream } from '../../util/terminal.ts'
import { drawTable, readTable } from './tables.ts'

// Maximum line width, for readability; tables may be wider.
const WIDEST = 100
const NARROWEST = 20
const UNCUT = { hyperlinks: false, wrap: false, tableBorder: 'none', tablePadding: 0, tableTruncate: false } as const
const LIST_ITEM = /^( +)(?=(?:[-*+]|\d{1,9}[.)]) )/
const FENCE = /^\s*(?:```|~~~)/
/** Maximum product of markup characters and line length: rendering may compare each markup character with the rest of the line. */
const MOST_WORK = 32_000_000
/** Maximum nesting of quotes and lists, because the renderer is recursive. */
const DEEPEST = 64
const MARK = /[*_~`[\]<>!&|\\]/g
const CONTAINER = /[ \t]*(?:[-*+>]|\d{1,9}[.)])/y

/**
 * Renders untrusted Markdown. A line is returned when it is complete, a code block or a table when it has ended. A line that would take too much
 * time or nesting is returned as written.
 *
 * @param options.width Columns of the terminal; a function is called before each block, because the terminal may be resized meanwhile.
 */
export async function markdownStream({
  width,
  colour,
}: {
  readonly width: number | (() => number)
  readonly colour: boolean
}): Promise<TextStream> {
  const { createMarkdownStreamer, render } = await import('markdansi')
  const room = typeof width === 'number' ? () => width : width
  const columns = (): number => Math.max(NARROWEST, Math.min(room(), WIDEST))

  // Hyperlinks stay off: the text of a link must not hide its address.
  const renderBlock = (markdown: string, indent = 0): string =>
    onlyStyles(render(markdown, { width: columns() - indent, color: colour, hyperlinks: false }))

  // The renderer handles the Markdown in each cell, given as a table of its own, because it cuts the cells of whole tables.
  const renderCell = (cell: string, isHeader: boolean): string => {
    if (!isDrawable(cell)) return cell
    const table = isHeader ? `| ${cell} |\n|-|` : `| |\n|-|\n| ${cell} |`
    const lines = onlyStyles(render(table, { ...UNCUT, color: colour })).split('\n')
    return lines
      .slice(isHeader ? 0 : 1)
      .join(' ')
      .trim()
      .replace(SPACE_IN_STYLE, '$1')
  }
  const renderTable = (markdown: string): string | undefined => {
    const table = readTable(markdown)
    if (table === undefined) return undefined
    const header = table.header.map((cell) => renderCell(cell, true))
    const rows = table.rows.map((row) => row.map((cell) => renderCell(cell, false)))
    return drawTable({ ...table, header, rows }, Math.max(NARROWEST, room()))
  }

  const draw = (markdown: string): string => {
    if (FENCE.test(markdown)) return renderBlock(markdown)
    // A table has several lines, whose cells are rendered one by one.
    const lines = markdown.split('\n')
    const line = lines.map((each) => (isDrawable(each) ? asText(showImages(withoutControlReferences(each))) : each)).join('\n')
    const table = renderTable(line)
    if (table !== undefined) return table
    if (!lines.every(isDrawable)) return markdown
    // The renderer sees one line at a time, so it would not indent a nested item.
    const indent = LIST_ITEM.exec(line)?.[1]?.length ?? 0
    return indent === 0 ? renderBlock(line) : renderBlock(line.slice(indent), indent).replaceAll(/^(?=.)/gm, ' '.repeat(indent))
  }

  const streamer = createMarkdownStreamer({
    spacing: 'single',
    render(markdown) {
      try {
        return draw(markdown)
      } catch {
        // The text was already made safe before, so it can be shown unrendered.
        return markdown
      }
    },
  })
  const safe = visibleStream()
  // The streamer re-reads all the text that it holds for each piece, so it receives whole lines.
  let held: string[] = []
  return {
    push(text) {
      const visible = safe.push(text)
      held.push(visible)
      if (!visible.includes('\n')) return ''
      const lines = held.join('')
      held = []
      return streamer.push(lines)
    },
    finish: () => streamer.finish(held.join('') + safe.finish()),
  }
}

// Matches the padding of a cell, which may precede the end of its style.
// eslint-disable-next-line no-control-regex
const SPACE_IN_STYLE = / +((?:\u001B\[[\d;]*m)+)$/

/** Returns whether a line is within the limits of time and nesting. */
function isDrawable(line: string): boolean {
  if (line.length ** 2 > MOST_WORK && (line.match(MARK)?.length ?? 0) * line.length > MOST_WORK) return false
  let depth = 0
  CONTAINER.lastIndex = 0
  while (depth <= DEEPEST && CONTAINER.test(line)) depth++
  CONTAINER.lastIndex = 0
  return depth <= DEEPEST
}

// Matches a tag after the markers of lists and quotes, but not an address in angle brackets.
const TAG_FIRST = /^((?:\s|[-*+>](?=[\s<>])|\d{1,9}[.)](?=\s))*)<(?=[a-z/!?])(?![a-z][a-z\d+.-]*:|[^\s<>]+@)/gim

/** Escapes a tag at the beginning of a line, which would be rendered as an HTML block: as nothing. */
function asText(markdown: string): string {
  return markdown.replaceAll(TAG_FIRST, '$1\\<')
}

/** Replaces images by links, because a terminal shows no images. */
function showImages(markdown: string): string {
  return markdown.replaceAll(/!\[([^\]]*)\]\(/g, (_match, text: string) => `[${text === '' ? 'image' : `image: ${text}`}](`)
}
