/** Markdown for a terminal, line by line as it arrives: what has been written is never taken back. */

import { onlyStyles, visibleStream, withoutControlReferences } from '../../util/terminal.ts'
import type { TextStream } from '../../util/terminal.ts'
import { drawTable, readTable } from './answer-table.ts'

// Longer lines are hard to read, however wide the window is; those of a table are not.
const WIDEST = 100
const NARROWEST = 20
const UNCUT = { hyperlinks: false, wrap: false, tableBorder: 'none', tablePadding: 0, tableTruncate: false } as const
const LIST_ITEM = /^( +)(?=(?:[-*+]|\d{1,9}[.)]) )/
const FENCE = /^\s*(?:```|~~~)/

/**
 * Renders Markdown of untrusted origin. A line is given out when it is complete, a code block or a table when it has ended.
 *
 * @param width Columns of the terminal.
 */
export async function markdownStream({ width, colour }: { width: number; colour: boolean }): Promise<TextStream> {
  const { createMarkdownStreamer, render } = await import('markdansi')
  const columns = Math.max(NARROWEST, Math.min(width, WIDEST))

  // Hyperlinks stay off: the text of a link must not hide where it leads.
  const renderBlock = (markdown: string, indent = 0): string =>
    onlyStyles(render(markdown, { width: columns - indent, color: colour, hyperlinks: false }))

  // Markdown within a line is a matter of the renderer; it is given each cell as a table of its own, because its tables cut what is long.
  const renderCell = (cell: string, isHeader: boolean): string => {
    const table = isHeader ? `| ${cell} |\n|-|` : `| |\n|-|\n| ${cell} |`
    const lines = onlyStyles(render(table, { ...UNCUT, color: colour })).split('\n')
    return lines
      .slice(isHeader ? 0 : 1)
      .join(' ')
      .trim()
  }
  const renderTable = (markdown: string): string | undefined => {
    const table = readTable(markdown)
    if (table === undefined) return undefined
    const header = table.header.map((cell) => renderCell(cell, true))
    const rows = table.rows.map((row) => row.map((cell) => renderCell(cell, false)))
    return drawTable({ ...table, header, rows }, Math.max(NARROWEST, width))
  }

  const streamer = createMarkdownStreamer({
    spacing: 'single',
    render(markdown) {
      if (FENCE.test(markdown)) return renderBlock(markdown)
      const line = asText(showImages(withoutControlReferences(markdown)))
      const table = renderTable(line)
      if (table !== undefined) return table
      // The renderer sees one line at a time and would take a nested item for a top one.
      const indent = LIST_ITEM.exec(line)?.[1]?.length ?? 0
      return indent === 0 ? renderBlock(line) : renderBlock(line.slice(indent), indent).replaceAll(/^(?=.)/gm, ' '.repeat(indent))
    },
  })
  const safe = visibleStream()
  return {
    push: (text) => streamer.push(safe.push(text)),
    finish: () => streamer.finish(safe.finish()),
  }
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
