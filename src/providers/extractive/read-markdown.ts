/** Splits Markdown and plain text into pieces: paragraphs, list items, table rows, code. */

import { linesOf } from '../../util/lines.ts'
import { listItems, markdownBlocks } from '../../text/markdown-blocks.ts'
import { withoutMarkup } from '../../text/markdown-text.ts'
import type { Block } from '../../text/markdown-blocks.ts'
import { sentenceEnds } from '../../text/sentences.ts'
import { countLines, countWords, cutLines } from './passage.ts'
import type { Passage, Piece, PieceKind, Section } from './passage.ts'
import type { Range } from '../../util/range.ts'
import { cellsOfRow } from '../../text/separated-values.ts'

/** Most words of a paragraph that is one piece; a longer one is split by sentences. */
const WHOLE_PARAGRAPH = 80
const PART_OF_PARAGRAPH = 50
/** Opens an admonition or a tab of MkDocs, or a directive of reStructuredText or MyST, whose indented content is text. */
const OPENS_INDENTED = /^\s*(?:!!!|\?\?\?\+?|===|:{3,}|\.\. (?!code|sourcecode|literalinclude|prompt)[\w:-]+::)/
const DIRECTIVE_LINE =
  /^\s*(?::{3,}(?:\{?[\w-]+\}?.*)?|\.\. [\w:-]+::.*|:[\w-]+:.*|\(?[\w-]+\)=|\[[^\]]+\]:\s*\S+.*|<!--[^]*-->)\s*$/
/** A table drawn with characters. */
const GRID_TABLE = /^\s*\+[-=+]{3,}\+\s*\n/
const HAS_MARKUP = /\]\(|\]\[|<\w/

type Part = Pick<Piece, 'isCutBefore' | 'isCutAfter'>
const WHOLE: Part = {}
const INDENTED = /^(?: {4}|\t)/

export function readMarkdown(passage: Passage): Piece[] {
  const { text } = passage
  const above = passage.headings ?? []
  const pieces: Piece[] = []
  const open: { level: number; title: string }[] = []
  let section: Section = { headings: above }
  let isText = false
  let number = 0

  const add = (range: Range, kind: PieceKind, language?: string, part: Part = WHOLE): void => {
    const content = text.slice(range.start, range.end)
    const words = countWords(content)
    // A line of only badges or images has no text.
    if (words === 0 || (kind === 'prose' && HAS_MARKUP.test(content) && countWords(withoutMarkup(content)) === 0)) return
    pieces.push({
      start: range.start,
      end: range.end,
      kind,
      section,
      block: number,
      ...part,
      leadsIn:
        kind !== 'code' &&
        /:\**\s*$|^\s*===\+?\s*"[^"\n]*"\s*$/.test(text.slice(Math.max(range.start, range.end - 8), range.end)),
      ...(language === undefined ? {} : { language }),
      words,
      lines: countLines(text, range),
    })
  }

  for (const block of markdownBlocks(text, 0, text.length, '\n')) {
    number++
    const content = text.slice(block.start, block.end)
    if (block.kind === 'heading') {
      const level = block.level ?? 1
      while ((open.at(-1)?.level ?? 0) >= level) open.pop()
      open.push({ level, title: block.title ?? '' })
      section = {
        headings: pathOf(
          above,
          open.map(({ title }) => title),
        ),
      }
      isText = false
    } else if (block.kind === 'fence') addFence(block)
    else if (block.kind === 'list') {
      for (const item of listItems(text, block, '\n')) {
        if (countWords(text.slice(item.start, item.end)) <= WHOLE_PARAGRAPH) add(item, 'item')
        else for (const part of itemParts(text, item)) add(part.range, part.isCode ? 'code' : 'item')
      }
    } else if (block.kind === 'table') addTable(block)
    else if (block.kind === 'paragraph') {
      if (DIRECTIVE_LINE.test(content) && !content.includes('\n')) {
        isText = OPENS_INDENTED.test(content)
        // Keeps the text after a directive: `.. warning:: Never do this.`
        const said = isText ? /::\s+(?=\S)/.exec(content) : null
        if (said !== null) addProse({ start: block.start + said.index + said[0].length, end: block.end })
        continue
      }
      if (OPENS_INDENTED.test(content)) {
        isText = true
        const [, ...rest] = content.split('\n')
        if (rest.length === 0) {
          add(block, 'prose')
          continue
        }
        addProse({ start: block.start + content.indexOf('\n') + 1, end: block.end })
        continue
      }
      const isIndented = content.split('\n').every((line) => INDENTED.test(line) || line.trim() === '')
      if (!isIndented) isText = false
      const columns = columnsAbove(above, content)
      if (columns !== undefined) {
        const outer = section
        section = { headings: outer.headings.filter((heading) => heading !== above.at(-1)), columns }
        for (const row of linesOf(text, block.start, block.end, '\n')) add(row, 'row')
        section = outer
        continue
      }
      const isGrid = GRID_TABLE.test(content)
      if ((isIndented && !isText) || isGrid) for (const part of cutLines(text, block)) add(part, 'code')
      else addProse(block)
    }
  }
  return withLeadIns(pieces)

  function addProse(range: Range): void {
    for (const part of sentenceGroups(text, range)) add(part, 'prose')
  }

  function addFence(fence: Block): void {
    const lines = [...linesOf(text, fence.start, fence.end, '\n')]
    const opening = text.slice(lines[0]?.start ?? 0, lines[0]?.end ?? 0)
    const info = /^[ \t>]*(?:`{3,}|~{3,})\s*(.*)$/.exec(opening)?.[1]?.trim() ?? ''
    const last = lines.at(-1)
    const isClosed =
      lines.length > 1 && last !== undefined && /^[ \t>]*(?:`{3,}|~{3,})\s*$/.test(text.slice(last.start, last.end))
    const inside = { start: lines[0]?.next ?? fence.end, end: isClosed ? last.start : fence.end }
    if (inside.end <= inside.start) return
    // A MyST directive with text: `{note}`.
    if (/^\{(?!code|literalinclude|eval-rst|click)/.test(info)) return addProse(inside)
    const isDirective = info.startsWith('{')
    if (isDirective && withoutDirectives(text.slice(inside.start, inside.end)).trim() === '') return
    const language = isDirective ? '' : (/^[\w+#.-]+(?=\s|$)/.exec(info)?.[0] ?? '')
    const parts = [...cutLines(text, inside)]
    parts.forEach((part, at) => add(part, 'code', language, { isCutBefore: at > 0, isCutAfter: at < parts.length - 1 }))
  }

  function addTable(table: Block): void {
    const [header, delimiter] = [...linesOf(text, table.start, table.end, '\n')]
    const outer = section
    section = { ...outer, columns: header === undefined ? [] : cellsOfRow(text.slice(header.start, header.end)) }
    for (const row of linesOf(text, delimiter?.next ?? table.end, table.end, '\n')) add(row, 'row')
    section = outer
  }
}

const DIRECTIVE = /^[ \t]*(?:\.\. [\w:-]+::.*|[*-] +\.\. [\w:-]+::.*|:[\w-]+:.*)(?:\n|$)/gm

/** Returns the code of a reStructuredText block without its option lines. */
export function withoutDirectives(code: string): string {
  return code.replaceAll(DIRECTIVE, '')
}

/** Returns the column names for rows whose header is in another passage: they are the innermost heading. */
function columnsAbove(above: readonly string[], content: string): readonly string[] | undefined {
  const names = above.at(-1)?.split(' | ') ?? []
  const lines = content.split('\n')
  const areRows = names.length > 1 && lines.every((line) => line.includes('|') && cellsOfRow(line).length === names.length)
  return areRows ? names : undefined
}

/** Returns the full path without repeating headings that the passage already has. */
function pathOf(above: readonly string[], within: readonly string[]): readonly string[] {
  const shared = within[0] === undefined ? -1 : above.indexOf(within[0])
  return shared === -1 ? [...above, ...within] : [...above.slice(0, shared), ...within]
}

/** Marks prose before code as introducing it. */
function withLeadIns(pieces: readonly Piece[]): Piece[] {
  return pieces.map((piece, index) => {
    const next = pieces[index + 1]
    const announces = piece.kind === 'prose' && next?.section === piece.section && next.kind === 'code'
    return announces && !piece.leadsIn ? { ...piece, leadsIn: true } : piece
  })
}

function* sentenceGroups(text: string, range: Range): Generator<Range> {
  if (countWords(text.slice(range.start, range.end)) <= WHOLE_PARAGRAPH) {
    yield range
    return
  }
  let start = range.start
  for (const end of sentenceEnds(text, range.start, range.end)) {
    if (countWords(text.slice(start, end)) < PART_OF_PARAGRAPH) continue
    yield { start, end }
    start = end
  }
  if (start < range.end) yield { start, end: range.end }
}

/** Yields the paragraphs and code of a long list item. */
function* itemParts(text: string, item: Range): Generator<{ readonly range: Range; readonly isCode: boolean }> {
  for (const block of markdownBlocks(text, item.start, item.end, '\n', true)) {
    if (block.kind === 'fence') for (const range of cutLines(text, block)) yield { range, isCode: true }
    else if (block.kind === 'list') for (const range of listItems(text, block, '\n')) yield { range, isCode: false }
    else for (const range of sentenceGroups(text, block)) yield { range, isCode: false }
  }
}
