/** Markdown for a terminal, line by line as it arrives: what has been written is never taken back. */

import { onlyStyles, visibleStream, withoutControlReferences } from '../../util/terminal.ts'
import type { TextStream } from '../../util/terminal.ts'
import { drawTable, readTable } from './tables.ts'

// Longer lines are hard to read, however wide the window is; those of a table are not.
const WIDEST = 100
const NARROWEST = 20
const UNCUT = { hyperlinks: false, wrap: false, tableBorder: 'none', tablePadding: 0, tableTruncate: false } as const
const LIST_ITEM = /^( +)(?=(?:[-*+]|\d{1,9}[.)]) )/
const FENCE = /^\s*(?:```|~~~)/
/** Each mark of a line may be compared with all that follows it: how many marks times characters are drawn in a moment. */
const MOST_WORK = 32_000_000
/** Quotes and lists within each other. The renderer takes stack for each. */
const DEEPEST = 64
const MARK = /[*_~`[\]<>!&|\\]/g
const CONTAINER = /[ \t]*(?:[-*+>]|\d{1,9}[.)])/y

/**
 * Renders Markdown of untrusted origin. A line is given out when it is complete, a code block or a table when it has ended. A line that cannot
 * be drawn in time and depth is shown as it is written.
 *
 * @param options.width Columns of the terminal; a function is asked before each block, since a terminal may be resized while an answer arrives.
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

  // Hyperlinks stay off: the text of a link must not hide where it leads.
  const renderBlock = (markdown: string, indent = 0): string =>
    onlyStyles(render(markdown, { width: columns() - indent, color: colour, hyperlinks: false }))

  // Markdown within a line is a matter of the renderer; it is given each cell as a table of its own, because its tables cut what is long.
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
    // A table has several lines; its cells are drawn one by one.
    const lines = markdown.split('\n')
    const line = lines.map((each) => (isDrawable(each) ? asText(showImages(withoutControlReferences(each))) : each)).join('\n')
    const table = renderTable(line)
    if (table !== undefined) return table
    if (!lines.every(isDrawable)) return markdown
    // The renderer sees one line at a time and would take a nested item for a top one.
    const indent = LIST_ITEM.exec(line)?.[1]?.length ?? 0
    return indent === 0 ? renderBlock(line) : renderBlock(line.slice(indent), indent).replaceAll(/^(?=.)/gm, ' '.repeat(indent))
  }

  const streamer = createMarkdownStreamer({
    spacing: 'single',
    render(markdown) {
      try {
        return draw(markdown)
      } catch {
        // Whatever the renderer stumbles over, the text has already been made visible.
        return markdown
      }
    },
  })
  const safe = visibleStream()
  // The streamer reads again all that it holds with each piece: it is given whole lines.
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

// What a renderer pads a cell with may stand before the end of its style.
// eslint-disable-next-line no-control-regex
const SPACE_IN_STYLE = / +((?:\u001B\[[\d;]*m)+)$/

/** Whether a line can be drawn in time and depth. */
function isDrawable(line: string): boolean {
  if (line.length ** 2 > MOST_WORK && (line.match(MARK)?.length ?? 0) * line.length > MOST_WORK) return false
  let depth = 0
  CONTAINER.lastIndex = 0
  while (depth <= DEEPEST && CONTAINER.test(line)) depth++
  CONTAINER.lastIndex = 0
  return depth <= DEEPEST
}

// Behind the marks of lists and quotations; an address in angle brackets is none.
const TAG_FIRST = /^((?:\s|[-*+>](?=[\s<>])|\d{1,9}[.)](?=\s))*)<(?=[a-z/!?])(?![a-z][a-z\d+.-]*:|[^\s<>]+@)/gim

/** A line that begins with a tag would be a block of HTML, of which a terminal shows nothing: it is shown as it is written. */
function asText(markdown: string): string {
  return markdown.replaceAll(TAG_FIRST, '$1\\<')
}

/** A terminal shows no images: the link to one is shown instead of nothing. */
function showImages(markdown: string): string {
  return markdown.replaceAll(/!\[([^\]]*)\]\(/g, (_match, text: string) => `[${text === '' ? 'image' : `image: ${text}`}](`)
}
