/** Yields atoms of plain text: paragraphs between blank lines, under underlined headings; a form feed ends a page. */

import { isWhiteSpace, lineAt } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'
import { BORDER, headingAtoms, proseAtoms, room } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'

const UNDERLINE = /^([=\-~^"'`#*+_])\1{2,}\s*$/
const LONGEST_HEADING = 120

export function* readText(cutting: Cutting): Generator<Atom> {
  const headings = new UnderlinedHeadings()
  // Length of the headings that still wait for their text.
  let prefix = 0
  for (const { opensPage, ...block } of paragraphs(cutting)) {
    const heading = headings.read(cutting, block)
    if (heading !== undefined) {
      const border = prefix > 0 ? BORDER.never : BORDER.section
      yield* headingAtoms(cutting, { start: block.start, end: heading.end }, border, headings.path)
      prefix += heading.end - block.start + 2
      if (heading.next >= block.end) continue
    }
    const body = { start: heading?.next ?? block.start, end: block.end }
    const border = opensPage ? BORDER.block : BORDER.paragraph
    yield* proseAtoms(room(cutting, prefix), body, { border: prefix > 0 ? BORDER.never : border, path: headings.path })
    prefix = 0
  }
}

function* paragraphs({ text, lineBreak }: Cutting): Generator<Range & { readonly opensPage: boolean }> {
  let start = -1
  let end = -1
  let opensPage = false
  let formFeed = text.indexOf('\f')
  for (let at = 0; at < text.length;) {
    const line = lineAt(text, at, text.length, lineBreak)
    const endsPage = formFeed !== -1 && formFeed < line.next
    const lineEnd = endsPage ? Math.min(formFeed, line.end) : line.end
    let first = line.start
    while (first < lineEnd && isWhiteSpace(text, first)) first++
    if (first < lineEnd) {
      if (start === -1) start = line.start
      end = lineEnd
    }
    if (start !== -1 && (first === lineEnd || endsPage)) {
      yield { start, end, opensPage }
      start = -1
      opensPage = false
    }
    at = endsPage ? formFeed + 1 : line.next
    if (endsPage) {
      opensPage = true
      formFeed = text.indexOf('\f', at)
    }
  }
  if (start !== -1) yield { start, end, opensPage }
}

/** Recognises lines underlined with one repeated mark. The order in which marks first appear decides the level, as in reStructuredText. */
class UnderlinedHeadings {
  path: readonly string[] = []
  readonly #marks: string[] = []

  read({ text, lineBreak }: Cutting, block: Range): { readonly end: number; readonly next: number } | undefined {
    const title = lineAt(text, block.start, block.end, lineBreak)
    if (title.next >= block.end || title.end - title.start > LONGEST_HEADING) return undefined
    const underline = lineAt(text, title.next, block.end, lineBreak)
    if (underline.end - underline.start > 2 * LONGEST_HEADING) return undefined
    const words = text.slice(title.start, title.end).trim()
    const mark = UNDERLINE.exec(text.slice(underline.start, underline.end))?.[1]
    if (mark === undefined || UNDERLINE.test(words) || underline.end - underline.start < words.length * 0.6) return undefined
    if (!this.#marks.includes(mark)) this.#marks.push(mark)
    this.path = [...this.path.slice(0, this.#marks.indexOf(mark)), words]
    return { end: underline.end, next: underline.next }
  }
}
