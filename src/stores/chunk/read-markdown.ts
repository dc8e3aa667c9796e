/** Atoms of Markdown: sections by headings, blocks whole where they fit, longer ones by items, rows, lines or sentences. */

import { BORDER, trimRange } from './atom.ts'
import type { Atom } from './atom.ts'
import { cutRange, headingAtoms, room } from './cut.ts'
import { lineAt, linesOf } from '../../util/lines.ts'
import { listItems, markdownBlocks } from '../../text/markdown-blocks.ts'
import type { Block } from '../../text/markdown-blocks.ts'
import { codeAtoms } from './read-code.ts'
import { proseAtoms } from './prose.ts'

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
      yield* headingAtoms(text, block, isFirst ? BORDER.section : BORDER.never, headings.path, max)
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
    else if (block.kind === 'fence' || block.kind === 'front-matter') yield* this.#code(block, border, path)
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

  /** The lines that open and close a fence stay with the code beside them. */
  *#code(fence: Block, border: number, path: readonly string[]): Generator<Atom> {
    const opening = lineAt(this.#text, fence.start, fence.end, this.#lineBreak)
    const closing = this.#text.lastIndexOf(this.#lineBreak, fence.end - 1) + 1
    const inside = { start: opening.next, end: Math.max(opening.next, closing) }
    for (const range of cutRange(this.#text, opening.start, opening.end, this.#max)) yield { ...range, border, path }
    let isFirst = true
    for (const atom of codeAtoms(this.#text, inside, path, this.#max, this.#lineBreak)) {
      yield isFirst ? { ...atom, border: BORDER.never } : atom
      isFirst = false
    }
    for (const range of cutRange(this.#text, inside.end, fence.end, this.#max)) yield { ...range, border: BORDER.never, path }
  }
}

function cells(row: string): string {
  return row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' | ')
}
