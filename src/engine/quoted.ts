/** The citations of a model that quotes: it says itself where its quotes stand, so that nothing has to be looked for. */

import type { Citation } from '../core/citation.ts'
import type { Retrieved } from '../core/message.ts'
import type { QuotedPassage } from '../core/model.ts'
import { pageAt } from '../core/store.ts'

/** Each is verbatim: its words are taken from the passage. One whose marker names no passage is left out. */
export function quotedCitations(quotes: readonly QuotedPassage[], passages: readonly Retrieved[]): Citation[] {
  return quotes.flatMap(({ marker, start, end, claim }) => {
    const retrieved = passages.find((passage) => passage.marker === marker)
    if (retrieved === undefined) return []
    const { chunk, alsoIn } = retrieved
    const first = chunk.lines === undefined ? undefined : chunk.lines[0] + breaksIn(chunk.text.slice(0, start))
    const page = pageAt(chunk, start)
    return {
      marker,
      chunkId: chunk.id,
      source: chunk.source,
      start: chunk.start + start,
      end: chunk.start + end,
      quote: chunk.text.slice(start, end),
      supported: true,
      kind: 'verbatim',
      claim,
      ...(first === undefined ? {} : { lines: [first, first + breaksIn(chunk.text.slice(start, end))] as const }),
      ...(page === undefined ? {} : { page }),
      ...(alsoIn === undefined ? {} : { alsoIn }),
    } satisfies Citation
  })
}

function breaksIn(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1
}
