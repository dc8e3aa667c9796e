/** Text as units that may stand alone in an answer: sentences, list items, table rows, headings, lines of code. */

import { patternFor } from '../../util/pattern.ts'
import { isJson, readJsonUnits } from './json-units.ts'
import { isBoldLine, isMostlyLinks, readCells, withoutMarkup } from './markup.ts'
import { readCodeBlocks } from './code-blocks.ts'
import { readFrontMatter } from './front-matter.ts'
import { readTable, recordLines } from './records.ts'
import type { Block, Unit } from './unit.ts'

/** What the name of a file says of its text. */
export interface TextKind {
  /** The text is source code: remarks are prose, all other lines stand alone. Default false. */
  readonly isCode?: boolean | undefined
  /** It is separated values, under columns of these names; they are empty where the text itself names them. */
  readonly columns?: readonly string[] | undefined
}

/** All units of a text, in order, without overlap. Nothing but white space and markup lies between them. */
export function readUnits(text: string, { isCode = false, columns }: TextKind = {}): Unit[] {
  if (!isCode && isJson(text)) {
    return readJsonUnits(text).flatMap((unit) =>
      unit.kind === 'sentence'
        ? split(text, unit.start, unit.end, true, false).map(([start, end]) => ({ ...unit, start, end }))
        : [unit],
    )
  }
  const units: Unit[] = []
  let block = 0
  const footnoted = FOOTNOTED(text).test(text)
  const table = columns === undefined ? undefined : readTable(text, columns)
  for (const { start, end, kind, level, separator, follows } of table ?? (isCode ? readCodeBlocks(text) : readBlocks(text))) {
    if (follows !== true) block++
    if (kind === 'row' || kind === 'columns') {
      for (const cell of readCells(text, start, end, separator ?? '|')) {
        for (const [from, to] of split(text, cell.start, cell.end, false, footnoted)) {
          units.push({ start: from, end: to, kind, block, column: cell.column })
        }
      }
      continue
    }
    const prose = kind === 'sentence' || kind === 'item'
    if (prose && isMostlyLinks(text.slice(start, end))) continue
    for (const [from, to] of kind === 'code' ? [[start, end] as const] : split(text, start, end, prose, footnoted)) {
      // What a footnote mark parts stays apart: in an answer the mark would read as one of ours. So do remarks, which signs of code part.
      const between = text.slice(units.at(-1)?.end ?? from, from)
      const parted = follows !== true && (isCode ? /\S/ : PARTS).test(between)
      if (parted) block++
      const own = level ?? (kind === 'sentence' || kind === 'item' ? levelOf(text.charAt(to - 1)) : undefined)
      const opening = text.slice(from, from + 8)
      const headless = parted && prose && LOWER_START(opening).test(opening)
      units.push({
        start: from,
        end: to,
        kind,
        block,
        ...(own === undefined ? {} : { level: own }),
        ...(headless ? { headless } : {}),
      })
    }
  }
  return units
}

const BOLD_LINE = 7
const QUESTION = 8
/** Speaks only for the list or the line after it. */
export const LEAD_IN = 9

/** A question speaks for its answer, and what ends with a colon for what follows. */
function levelOf(lastCharacter: string): number | undefined {
  if (/[?？؟]/u.test(lastCharacter)) return QUESTION
  return /[:：]/u.test(lastCharacter) ? LEAD_IN : undefined
}

const FENCE = /^\s*(?:```|~~~)/
/** Code that draws: it says nothing to a reader who does not see the picture. */
const DIAGRAM = /^\s*(?:```|~~~)\s*\{?(?:mermaid|plantuml|puml|dot|graphviz|d2|vega(?:-lite)?|svgbob|ditaa)\b/i
/** What a program prints, or any other text: it may hold sentences over several lines. */
const PLAIN = /^\s*(?:```+|~~~+)\s*(?:text|txt|plain|plaintext|none)?\s*$/i
/** Sets columns apart. */
const TABULAR = /\S {2,}\S|\t/
const CODE_SIGN = /[{}<>=|\\$]|\(\)|;$/
/** Words from which a line without a full stop is prose, and one with it. */
const SHORTEST_PROSE = 5
const SHORTEST_SENTENCE = 3
const HEADING = /^\s{0,3}#{1,6}\s+/
const ITEM = /^\s*(?:[-*+•‣◦]|\d{1,3}[.)])\s+/
const ROW = /^\s*\|.*\||^[^|\n]+\|[^|\n]+\|/
const ROW_RULE = /^[\s|:+=-]*$/
const SENTENCE_END = patternFor(String.raw`[\p{Sentence_Terminal}:;]["'”’)\]]*\s*$`, 'u')
const LINE_START = patternFor(String.raw`^["'“‘(]?[\p{Lu}\p{Lo}\p{N}]`, 'u')
/** A line that ends earlier than this was not wrapped, so that it may be a title or an entry of a list. */
const SHORTEST_WRAPPED_LINE = 45

function readBlocks(text: string): Block[] {
  const { blocks, lines: linesBefore } = readFrontMatter(text)
  let open: Block | undefined
  let lineBefore = ''
  let inFence = false
  let inDiagram = false
  let isPlain = false
  let offset = 0
  const close = (): void => {
    if (open !== undefined) blocks.push(open)
    open = undefined
  }
  const lines = text.split('\n')
  const records = recordLines(lines)
  for (const [index, line] of lines.entries()) {
    const record = records.get(index)
    const start = offset + (line.length - line.trimStart().length)
    const end = offset + line.trimEnd().length
    offset += line.length + 1
    if (index < linesBefore) continue
    if (FENCE.test(line)) {
      close()
      inFence = !inFence
      inDiagram = inFence && DIAGRAM.test(line)
      isPlain = inFence && PLAIN.test(line)
    } else if (start >= end || (!inFence && ROW_RULE.test(line))) {
      close()
      const above = blocks.at(-1)
      // The row above the rule of a table names the columns.
      if (start < end && above?.kind === 'row' && lineBefore === text.slice(above.start, above.end)) above.kind = 'columns'
    } else if (inFence) {
      const said = text.slice(start, end)
      if (
        isPlain &&
        (open === undefined ? readsAsProse(said) : lineBefore.length >= SHORTEST_WRAPPED_LINE && !TABULAR.test(said))
      ) {
        if (open === undefined) open = { start, end, kind: 'sentence' }
        else open.end = end
      } else {
        close()
        if (!inDiagram) blocks.push({ start, end, kind: 'code' })
      }
    } else if (HEADING.test(line)) {
      close()
      const marker = HEADING.exec(line.trimStart())?.[0] ?? ''
      blocks.push({ start: start + marker.length, end, kind: 'heading', level: marker.trim().length })
    } else if (open === undefined && isBoldLine(line)) {
      blocks.push({ start, end, kind: 'heading', level: BOLD_LINE })
    } else if (ROW.test(line)) {
      close()
      blocks.push({ start, end, kind: 'row' })
    } else if (record !== undefined) {
      close()
      blocks.push({ start, end, kind: record.isHeader ? 'columns' : 'row', separator: record.separator })
    } else if (ITEM.test(line)) {
      close()
      open = { start: start + (ITEM.exec(line.trimStart())?.[0].length ?? 0), end, kind: 'item' }
    } else if (open === undefined || breaksBetween(lineBefore, text.slice(start, end))) {
      close()
      open = { start, end, kind: 'sentence' }
    } else {
      open.end = end
    }
    lineBefore = text.slice(start, end)
  }
  close()
  return blocks
}

function readsAsProse(line: string): boolean {
  if (!LINE_START(line).test(line) || TABULAR.test(line) || CODE_SIGN.test(line)) return false
  return line.split(' ').length >= (SENTENCE_END(line).test(line) ? SHORTEST_SENTENCE : SHORTEST_PROSE)
}

/** Whether a line break ends a paragraph: the line before it is a whole one, or too short to have been wrapped. */
function breaksBetween(before: string, after: string): boolean {
  if (before.length >= SHORTEST_WRAPPED_LINE) return false
  return SENTENCE_END(before).test(before) || LINE_START(after).test(after)
}

const LONGEST_REMARK = 120

const BREAKS = patternFor(
  String.raw`\x60[^\x60\n]*\x60|<!--[^]{0,2000}?-->|</?(?!(?:a|b|i|u|em|strong|code|kbd|sub|sup|span|tspan|small|mark|br)\b)[a-zA-Z][^<>]{0,500}>|[\p{Sentence_Terminal}]+|\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]`,
  'gu',
)
/** What parts the units around it: a footnote mark, a tag. */
const PARTS = /\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]|[<>]/
const FOOTNOTE = /\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]/
/** Where no mark follows a full stop or a comma, `[2]` after a word is an index into what the word names. */
const FOOTNOTED = patternFor(String.raw`[\p{P}]\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\]`, 'u')
/** What may follow the full stop and still belongs to the sentence: closing quotes and brackets. */
const TRAILER = /^["'”’»)\]}」』）】]*/u
const FULL_WIDTH = /[。！？｡।॥။።᠃។]/u
const LOWER_START = patternFor(String.raw`^["'“‘«(\[]*[\p{Ll}]`, 'u')
const WORD_BEFORE = patternFor(String.raw`[\p{L}\p{M}\p{N}.&]*$`, 'u')
const FIRST_WORD = patternFor(String.raw`^["'“‘«(\[]*([\p{L}\p{M}]+)`, 'u')
const ONE_LETTER = patternFor(String.raw`^[\p{L}]$`, 'u')
const INITIALS = patternFor(String.raw`^(?:[\p{L}]\.)+[\p{L}]$`, 'u')
const ENTRY_NUMBER = patternFor(String.raw`^[\p{N}]{1,2}$`, 'u')
const LETTER_OR_DIGIT = patternFor(String.raw`[\p{L}\p{N}]`, 'u')

/** Never at the end of a sentence: titles, and what announces something that follows. */
const NEVER_FINAL: ReadonlySet<string> = new Set(
  'mr mrs ms mx dr prof st sta sts gen col lt sgt capt cpt cmdr adm maj brig rev hon pres gov sen rep fr msgr mt ft ste fl bef aft vs cf e.g i.e viz no nos vol pp fig figs eq eqs sec ch approx ca art ed eds trans op nr al'.split(
    ' ',
  ),
)
/** Followed by a capital these end a sentence only when the next word is one that begins sentences. */
const SELDOM_FINAL: ReadonlySet<string> = new Set(
  'jr sr inc ltd co corp bros dept est etc univ assn a.m p.m am pm ph.d jan feb mar apr jun jul aug sep sept oct nov dec'.split(
    ' ',
  ),
)
const STARTERS: ReadonlySet<string> = new Set(
  'the a an this that these those it its he she his her they their we our i you your in on at by for from with as after before during while when where although though however if since because there here but and or so then thus also both many most some all each one two several other another no not such under over between until despite following according within among today later eventually finally first second'.split(
    ' ',
  ),
)

/** At footnote marks, and between sentences where there are some. */
function split(text: string, start: number, end: number, sentences: boolean, footnoted: boolean): [number, number][] {
  const pieces: [number, number][] = []
  const block = text.slice(start, end)
  let from = 0
  for (const match of block.matchAll(BREAKS(block))) {
    // A mark in code is none, and no sentence ends there.
    if (match[0].startsWith('`')) continue
    if (match[0].startsWith('[') && !footnoted && /[\p{L}\p{N}_]$/u.test(block.slice(0, match.index).slice(-2))) continue
    if (match[0].startsWith('[') || match[0].startsWith('<')) {
      push(pieces, block, from, match.index, start)
      from = match.index + match[0].length
      continue
    }
    const stop = match.index + match[0].length
    if (!sentences || match.index < from) continue
    const after = stop + (TRAILER.exec(block.slice(stop, stop + 40))?.[0].length ?? 0)
    if (!isBoundary(block, match[0], match.index, after) || insideBrackets(block, from, match.index)) continue
    push(pieces, block, from, after, start)
    from = after
  }
  push(pieces, block, from, block.length, start)
  return pieces
}

function push(pieces: [number, number][], block: string, from: number, to: number, offset: number): void {
  const [first, stop] = withoutMarkup(block, from, to)
  const start = offset + first
  const end = offset + stop
  const last = pieces.at(-1)
  const piece = block.slice(first, stop)
  if (LETTER_OR_DIGIT(piece).test(piece)) pieces.push([start, end])
  else if (last !== undefined && start < end && !FOOTNOTE.test(block.slice(last[1] - offset, start - offset))) last[1] = end
}

function isBoundary(block: string, terminal: string, index: number, after: number): boolean {
  if (after >= block.length) return true
  if (FULL_WIDTH.test(terminal)) return true
  const rest = block.slice(after, after + 60)
  if (!/^(?:\s|\[\d)/u.test(rest)) return false
  const next = rest.trimStart()
  if (LOWER_START(next).test(next)) return false
  if (!terminal.startsWith('.') || terminal.length > 1) return true
  const before = block.slice(Math.max(0, index - 24), index)
  const token = WORD_BEFORE(before).exec(before)?.[0] ?? ''
  if (token === '') return true
  const lower = token.toLowerCase()
  const seldom = SELDOM_FINAL.has(lower) || ONE_LETTER(token).test(token) || INITIALS(token).test(token)
  if (seldom) return startsSentence(next)
  if (NEVER_FINAL.has(lower)) return false
  // "1. First": the number of an entry, not a sentence.
  return !ENTRY_NUMBER(token).test(token) || index - token.length > 0
}

/** Within a short remark in brackets; a bracket that is not closed soon is taken for a slip. */
function insideBrackets(block: string, from: number, index: number): boolean {
  const before = block.slice(Math.max(from, index - LONGEST_REMARK), index)
  const open = before.lastIndexOf('(')
  return open >= 0 && !before.includes(')', open) && block.slice(index, index + LONGEST_REMARK).includes(')')
}

function startsSentence(next: string): boolean {
  const word = FIRST_WORD(next).exec(next)?.[1] ?? ''
  return STARTERS.has(word.toLowerCase())
}
