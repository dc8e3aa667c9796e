/** Atoms of Markdown: sections by headings, blocks whole where they fit, longer ones by items, rows, lines or sentences. */

import { BORDER, trimRange } from './atom.ts'
import type { Atom } from './atom.ts'
import { cutRange } from './cut.ts'
import { lineAt, linesOf } from './lines.ts'
import { markdownBlocks } from './markdown-blocks.ts'
import type { Block } from './markdown-blocks.ts'
import { proseAtoms } from './prose.ts'
import { room } from './room.ts'

/** Deeper nested lists are cut like prose: each level reads its lines once more. */
const DEEPEST_LIST = 8
const LONGEST_TABLE_HEADER = 300

export function* readMarkdown(text: string, max: number, lineBreak: string): Generator<Atom> {
  const headings = new HeadingPath()
  const blocks = new BlockAtoms(text, max, lineBreak)
  // Length of the headings that wait for their text.
  let prefix = 0
  let previous: Block | undefined
  for (const block of markdownBlocks(text, 0, text.length, lineBreak)) {
    if (block.kind === 'heading') {
      headings.enter(block.level ?? 1, block.title ?? '')
      const isFirst = previous?.kind !== 'heading'
      for (const range of cutRange(text, block.start, block.end, max)) {
        yield { ...range, border: isFirst ? BORDER.section : BORDER.never, path: headings.path, isHeading: true }
      }
      prefix += block.end - block.start + 2
    } else {
      const border = prefix > 0 ? BORDER.never : borderBetween(text, previous, block)
      yield* blocks.of(block, border, headings.path, room(max, prefix))
      prefix = 0
    }
    previous = block
  }
}

function borderBetween(text: string, previous: Block | undefined, next: Block): number {
  if (previous === undefined) return BORDER.paragraph
  if (previous.kind === 'front-matter' || previous.kind === 'break' || next.kind === 'break') return BORDER.block
  // "The options are:" belongs to the list, table or code that follows.
  const announces =
    previous.kind === 'paragraph' && next.kind !== 'paragraph' && text.slice(previous.start, previous.end).trimEnd().endsWith(':')
  return announces ? BORDER.weak : BORDER.paragraph
}

class HeadingPath {
  path: readonly string[] = []
  #levels: readonly number[] = []

  enter(level: number, title: string): void {
    const keep = this.#levels.findIndex((open) => open >= level)
    const depth = keep === -1 ? this.#levels.length : keep
    this.#levels = [...this.#levels.slice(0, depth), level]
    this.path = [...this.path.slice(0, depth), title]
  }
}

class BlockAtoms {
  readonly #text: string
  readonly #max: number
  readonly #lineBreak: string

  constructor(text: string, max: number, lineBreak: string) {
    this.#text = text
    this.#max = max
    this.#lineBreak = lineBreak
  }

  /** @param limit Longest first atom: what the headings above it leave of a chunk. */
  *of(block: Block, border: number, path: readonly string[], limit: number, depth = 0): Generator<Atom> {
    const whole = trimRange(this.#text, block.start, block.end)
    if (whole === undefined) return
    if (whole.end - whole.start <= limit) yield { ...whole, border, path }
    else if (block.kind === 'list' && depth < DEEPEST_LIST) yield* this.#items(block, border, path, depth)
    else if (block.kind === 'table') yield* this.#rows(block, border, path)
    else if (block.kind === 'fence' || block.kind === 'front-matter') yield* this.#lines(block, border, path)
    else yield* proseAtoms(this.#text, { ...whole, border, path }, limit, this.#lineBreak)
  }

  *#items(list: Block, border: number, path: readonly string[], depth: number): Generator<Atom> {
    let before = border
    for (const item of listItems(this.#text, list, this.#lineBreak)) {
      const whole = trimRange(this.#text, item.start, item.end)
      if (whole === undefined) continue
      if (whole.end - whole.start <= this.#max) {
        yield { ...whole, border: before, path }
      } else {
        for (const inner of markdownBlocks(this.#text, item.start, item.end, this.#lineBreak, true)) {
          yield* this.of(inner, before, path, this.#max, depth + 1)
          before = BORDER.line
        }
      }
      before = BORDER.item
    }
  }

  *#rows(table: Block, border: number, path: readonly string[]): Generator<Atom> {
    const head = lineAt(this.#text, table.start, table.end, this.#lineBreak)
    const columns = cells(this.#text.slice(head.start, Math.min(head.end, head.start + LONGEST_TABLE_HEADER)))
    const inside = columns === '' ? path : [...path, columns]
    let before = border
    let row = 0
    for (const line of linesOf(this.#text, table.start, table.end, this.#lineBreak)) {
      // The header stays with its delimiter and its first row.
      const isHead = row < 2
      for (const range of cutRange(this.#text, line.start, line.end, this.#max)) {
        yield { ...range, border: before, path: isHead ? path : inside }
        before = BORDER.weak
      }
      before = row < 2 ? BORDER.never : BORDER.item
      row++
    }
  }

  /** Lines of code: best cut at blank lines, the less indented the better. */
  *#lines(block: Block, border: number, path: readonly string[]): Generator<Atom> {
    let before = border
    let isFirst = true
    for (const line of linesOf(this.#text, block.start, block.end, this.#lineBreak)) {
      const indent = indentOf(this.#text, line.start, line.end)
      if (indent === line.end - line.start) {
        before = Math.max(before, BORDER.item)
        continue
      }
      const last = line.next >= block.end
      if (!isFirst) before = last ? BORDER.never : before - Math.min(indent, 8) * 0.02
      for (const range of cutRange(this.#text, line.start, line.end, this.#max)) {
        yield { ...range, border: before, path }
        before = BORDER.weak
      }
      // The line that opens the fence says what language follows.
      before = isFirst ? BORDER.never : BORDER.line
      isFirst = false
    }
  }
}

const ITEM = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/

/** The outermost items of a list. */
function* listItems(text: string, list: Block, lineBreak: string): Generator<{ readonly start: number; readonly end: number }> {
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

function indentOf(text: string, start: number, end: number): number {
  let at = start
  while (at < end && (text.charCodeAt(at) === 0x20 || text.charCodeAt(at) === 0x09)) at++
  return at - start
}

function cells(row: string): string {
  return row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' | ')
}
