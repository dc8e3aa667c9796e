/** Markdown for a terminal, line by line as it arrives: what has been written is never taken back. */

import { onlyStyles, visibleStream, withoutControlReferences } from '../../util/terminal.ts'
import type { TextStream } from '../../util/terminal.ts'

// Longer lines are hard to read, however wide the window is.
const WIDEST = 100
const LIST_ITEM = /^( +)(?=(?:[-*+]|\d{1,9}[.)]) )/
const FENCE = /^\s*(?:```|~~~)/

/**
 * Renders Markdown of untrusted origin. A line is given out when it is complete, a code block or a table when it has ended.
 *
 * @param width Columns of the terminal.
 */
export async function markdownStream({ width, colour }: { width: number; colour: boolean }): Promise<TextStream> {
  const { createMarkdownStreamer, render } = await import('markdansi')
  const columns = Math.max(20, Math.min(width, WIDEST))

  // Hyperlinks stay off: the text of a link must not hide where it leads.
  const renderBlock = (markdown: string, indent = 0): string =>
    onlyStyles(render(markdown, { width: columns - indent, color: colour, hyperlinks: false }))

  const streamer = createMarkdownStreamer({
    spacing: 'single',
    render(markdown) {
      if (FENCE.test(markdown)) return renderBlock(markdown)
      const line = showImages(withoutControlReferences(markdown))
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

/** A terminal shows no images: the link to one is shown instead of nothing. */
function showImages(markdown: string): string {
  return markdown.replaceAll(/!\[([^\]]*)\]\(/g, (_match, text: string) => `[${text === '' ? 'image' : `image: ${text}`}](`)
}
