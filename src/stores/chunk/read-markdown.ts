/** Yields atoms of Markdown: sections by headings, blocks whole where they fit, longer ones by items, rows, lines or sentences. */

import { listItems, markdownBlocks } from '../../text/markdown-blocks.ts'
import type { Block } from '../../text/markdown-blocks.ts'
import { lineAt, linesOf } from '../../util/lines.ts'
import { BORDER, cutRange, headingAtoms, piecesOf, proseAtoms, room, trimRange } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'
import { readCode } from './read-code.ts'

/** Lists nested deeper are cut like prose, because each level reads its lines once more. */
const DEEPEST_LIST = 8
const LONGEST_TABLE_HEADER = 300

export function* readMarkdown(cutting: Cutting): Generator<Atom> {
  const { text, lineBreak } = cutting
  const headings = new HeadingPath()
  // Length of the headings that still wait for their text.
  let prefix = 0
  let previous: Block | undefined
  for (const block of markdownBlocks(text, 0, text.length, lineBreak)) {
    if (block.kind === 'heading') {
      headings.enter(block.level ?? 1, block.title ?? '')
      const border = previous?.kind === 'heading' ? BORDER.never : BORDER.section
      yield* headingAtoms(cutting, block, border, headings.path)
      prefix += block.end - block.start + 2
    } else {
      const border = prefix > 0 ? BORDER.never : borderBetween(text, previous, block)
      yield* blockAtoms(cutting, block, { border, path: headings.path }, room(cutting, prefix))
      prefix = 0
    }
    previous = block
  }
}

function borderBetween(text: string, previous: Block | undefined, next: Block): number {
  if (previous === undefined) return BORDER.paragraph
  if (previous.kind === 'front-matter' || previous.kind === 'break' || next.kind === 'break') return BORDER.block
  // A line such as "The options are:" belongs to the list, table or code that follows.
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

type Place = Pick<Atom, 'border' | 'path'>

/** @param first cutting for the first atom: with the room that the headings above it leave in a chunk. */
function* blockAtoms(cutting: Cutting, block: Block, place: Place, first: Cutting, depth = 0): Generator<Atom> {
  const whole = trimRange(cutting.text, block.start, block.end)
  if (whole === undefined) return
  if (whole.end - whole.start <= first.max) yield { ...whole, ...place }
  else if (block.kind === 'list' && depth < DEEPEST_LIST) yield* listAtoms(cutting, block, place, depth)
  else if (block.kind === 'table') yield* tableAtoms(cutting, block, place)
  else if (block.kind === 'fence' || block.kind === 'front-matter') yield* fenceAtoms(cutting, block, place)
  else yield* proseAtoms(first, whole, place)
}

function* listAtoms(cutting: Cutting, list: Block, { border, path }: Place, depth: number): Generator<Atom> {
  const { text, lineBreak, max } = cutting
  let before = border
  for (const item of listItems(text, list, lineBreak)) {
    const whole = trimRange(text, item.start, item.end)
    if (whole === undefined) continue
    if (whole.end - whole.start <= max) {
      yield { ...whole, border: before, path }
    } else {
      for (const inner of markdownBlocks(text, item.start, item.end, lineBreak, true)) {
        yield* blockAtoms(cutting, inner, { border: before, path }, cutting, depth + 1)
        before = BORDER.line
      }
    }
    before = BORDER.item
  }
}

function* tableAtoms(cutting: Cutting, table: Block, { border, path }: Place): Generator<Atom> {
  const { text, lineBreak } = cutting
  const head = lineAt(text, table.start, table.end, lineBreak)
  const columns = cells(text.slice(head.start, Math.min(head.end, head.start + LONGEST_TABLE_HEADER)))
  const inside = columns === '' ? path : [...path, columns]
  let before = border
  let row = 0
  for (const line of linesOf(text, table.start, table.end, lineBreak)) {
    // Keeps the header with its delimiter row and the first data row.
    yield* piecesOf(cutting, line, { border: before, path: row < 2 ? path : inside })
    before = row < 2 ? BORDER.never : BORDER.item
    row++
  }
}

/** Keeps the opening and closing lines of a fence with the adjacent code. */
function* fenceAtoms(cutting: Cutting, fence: Block, { border, path }: Place): Generator<Atom> {
  const { text, lineBreak } = cutting
  const opening = lineAt(text, fence.start, fence.end, lineBreak)
  const closing = text.lastIndexOf(lineBreak, fence.end - 1) + 1
  const inside = { start: opening.next, end: Math.max(opening.next, closing) }
  for (const range of cutRange(cutting, opening.start, opening.end)) yield { ...range, border, path }
  let isFirst = true
  for (const atom of readCode(cutting, inside, path)) {
    yield isFirst ? { ...atom, border: BORDER.never } : atom
    isFirst = false
  }
  for (const range of cutRange(cutting, inside.end, fence.end)) yield { ...range, border: BORDER.never, path }
}

function cells(row: string): string {
  return row
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' | ')
}
