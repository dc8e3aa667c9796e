/** Splits Markdown into blocks line by line: the leaf and container blocks of CommonMark, as far as chunking needs them. */

import { isWhiteSpace, lineAt, linesOf } from '../util/lines.ts'
import type { Line } from '../util/lines.ts'
import type { Range } from '../util/range.ts'

export type BlockKind = 'front-matter' | 'heading' | 'fence' | 'table' | 'list' | 'break' | 'paragraph'

export interface Block {
  readonly kind: BlockKind
  readonly start: number
  readonly end: number
  /** Of a heading: 1 to 6. */
  readonly level?: number
  /** Of a heading: its text without markup. */
  readonly title?: string
}

/** Characters of a line that are enough to classify it, so that a line of 100 MB is not scanned. */
const HEAD = 200
const LONGEST_TABLE_LINE = 20_000
const FENCE = /^(?:[ \t>]*)(`{3,}|~{3,})([^\n]*)/
const ATX = /^ {0,3}(#{1,6})(?:[ \t]|$)/
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/
const THEMATIC_BREAK = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const LIST_ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const TABLE_DELIMITER = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
const FRONT_MATTER = /^(---|\+\+\+)[ \t]*$/
/** Most UTF-16 units of front matter; a longer block at the top of a file begins with a thematic break instead. */
const LONGEST_FRONT_MATTER = 10_000

/** Yields the blocks of a range in order, with only white space between them. `isInside`: the range is the inside of an item, not a document. */
export function* markdownBlocks(text: string, start: number, end: number, lineBreak: string, isInside = false): Generator<Block> {
  const reader = new BlockReader(text, end, lineBreak)
  let at = start
  if (!isInside) {
    const matter = reader.frontMatter(at)
    if (matter !== undefined) {
      yield matter
      at = matter.end
    }
  } else {
    // The first line has the mark of the item, and would be read as a list again.
    const first = reader.paragraph(at)
    yield first
    at = first.end
  }
  while (at < end) {
    const line = reader.line(at)
    if (reader.isBlank(line)) {
      at = line.next
      continue
    }
    const block = reader.block(line)
    yield block
    at = block.end
  }
}

class BlockReader {
  readonly #text: string
  readonly #end: number
  readonly #lineBreak: string

  constructor(text: string, end: number, lineBreak: string) {
    this.#text = text
    this.#end = end
    this.#lineBreak = lineBreak
  }

  line(start: number): Line {
    return lineAt(this.#text, start, this.#end, this.#lineBreak)
  }

  isBlank(line: Line): boolean {
    let at = line.start
    while (at < line.end && isWhiteSpace(this.#text, at)) at++
    return at === line.end
  }

  block(line: Line): Block {
    const head = this.#head(line)
    const heading = this.#heading(line, head)
    if (heading !== undefined) return heading
    if (FENCE.test(head)) return { kind: 'fence', start: line.start, end: this.#fenceEnd(line, head) }
    if (THEMATIC_BREAK.test(head)) return { kind: 'break', start: line.start, end: line.end }
    if (LIST_ITEM.test(head)) return { kind: 'list', start: line.start, end: this.#listEnd(line) }
    if (this.#opensTable(line)) return { kind: 'table', start: line.start, end: this.#tableEnd(line) }
    return this.paragraph(line.start)
  }

  frontMatter(start: number): Block | undefined {
    const first = this.line(start)
    const mark = FRONT_MATTER.exec(this.#head(first))?.[1]
    if (mark === undefined) return undefined
    for (let at = first.next; at < this.#end && at < start + LONGEST_FRONT_MATTER;) {
      const line = this.line(at)
      if (this.#head(line).trimEnd() === mark) return { kind: 'front-matter', start, end: line.end }
      at = line.next
    }
    return undefined
  }

  /** Reads lines up to a blank line or a block that may interrupt a paragraph. A single line above `===` or `---` is a heading. */
  paragraph(start: number): Block {
    let last = this.line(start)
    let lines = 1
    while (last.next < this.#end) {
      const line = this.line(last.next)
      if (this.isBlank(line)) break
      const head = this.#head(line)
      const underline = lines === 1 ? SETEXT.exec(head)?.[1] : undefined
      if (underline !== undefined && last.end - last.start <= HEAD) {
        const title = plainTitle(this.#text.slice(last.start, last.end))
        return { kind: 'heading', start, end: line.end, level: underline.startsWith('=') ? 1 : 2, title }
      }
      if (this.#interrupts(line, head)) break
      last = line
      lines++
    }
    return { kind: 'paragraph', start, end: last.end }
  }

  #interrupts(line: Line, head: string): boolean {
    if (ATX.test(head) || FENCE.test(head) || THEMATIC_BREAK.test(head)) return true
    // Only number one interrupts a paragraph, so that "in\n1998." stays a sentence.
    if (LIST_ITEM.test(head)) return !/^[ \t]*\d/.test(head) || /^[ \t]*1[.)]/.test(head)
    return this.#opensTable(line)
  }

  #head(line: Line): string {
    return this.#text.slice(line.start, Math.min(line.end, line.start + HEAD))
  }

  #heading(line: Line, head: string): Block | undefined {
    const marks = ATX.exec(head)?.[1]
    if (marks === undefined) return undefined
    return { kind: 'heading', start: line.start, end: line.end, level: marks.length, title: plainTitle(head) }
  }

  /** Returns the end of a fence; for an unclosed fence, the next blank line before a heading, else the end of the range. */
  #fenceEnd(opening: Line, head: string): number {
    const mark = FENCE.exec(head)?.[1] ?? '```'
    let last = opening
    while (last.next < this.#end) {
      const line = this.line(last.next)
      const closing = FENCE.exec(this.#head(line))
      if (closing !== null && closing[1]?.startsWith(mark) === true && closing[2]?.trim() === '') return line.end
      last = line
    }
    return last.end
  }

  /** Returns the end of a list, which continues over blank lines before items or indented lines, and over whole fences. */
  #listEnd(first: Line): number {
    let last = first
    let end = first.end
    let afterBlank = false
    while (last.next < this.#end) {
      const line = this.line(last.next)
      if (this.isBlank(line)) {
        afterBlank = true
        last = line
        continue
      }
      const head = this.#head(line)
      const isIndented = /^(?: {2}|\t)/.test(head)
      if (!isIndented && (ATX.test(head) || THEMATIC_BREAK.test(head))) break
      if (!isIndented && (afterBlank || FENCE.test(head)) && !LIST_ITEM.test(head)) break
      afterBlank = false
      end = isIndented && FENCE.test(head) ? this.#fenceEnd(line, head) : line.end
      last = end === line.end ? line : this.line(this.#lineStart(end))
    }
    return end
  }

  #lineStart(end: number): number {
    return this.#text.lastIndexOf(this.#lineBreak, end - 1) + 1
  }

  #opensTable(line: Line): boolean {
    if (line.next >= this.#end || line.end - line.start > LONGEST_TABLE_LINE) return false
    if (!this.#text.slice(line.start, line.end).includes('|')) return false
    const delimiter = this.line(line.next)
    if (delimiter.end - delimiter.start > LONGEST_TABLE_LINE) return false
    const marks = this.#text.slice(delimiter.start, delimiter.end)
    return marks.includes('-') && marks.includes('|') && TABLE_DELIMITER.test(marks)
  }

  #tableEnd(first: Line): number {
    let last = first
    while (last.next < this.#end) {
      const line = this.line(last.next)
      if (this.isBlank(line) || !this.#text.slice(line.start, line.end).includes('|')) break
      last = line
    }
    return last.end
  }
}

/** Returns a heading as displayed: without hashes, emphasis and link targets. */
function plainTitle(line: string): string {
  return line
    .slice(0, HEAD)
    .replace(/^\s*#{1,6}(?:\s+|$)/, '')
    .trim()
    .replace(/(?:^|\s)#+$/, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]+|<[^>]*>/g, '')
    .trim()
}

const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/

/** Yields the outermost items of a list. */
export function* listItems(text: string, list: Range, lineBreak: string): Generator<Range> {
  let start = list.start
  let outermost: number | undefined
  for (const line of linesOf(text, list.start, list.end, lineBreak)) {
    const indent = ITEM.exec(text.slice(line.start, Math.min(line.end, line.start + 80)))?.[1]?.length
    if (indent === undefined) continue
    outermost ??= indent
    if (indent <= outermost + 1 && line.start > start) {
      yield { start, end: line.start }
      start = line.start
    }
  }
  yield { start, end: list.end }
}
