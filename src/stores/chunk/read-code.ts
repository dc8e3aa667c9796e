/**
 * Yields atoms of indented source code in any language: a definition with the comments and decorators above it, whole where it fits. A longer
 * definition is split by the blocks inside it, at blank lines before other lines, and never inside a line.
 */

import { indentation, linesOf } from '../../util/lines.ts'
import type { Range } from '../../util/range.ts'
import { BORDER, piecesOf } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'
import { Nest } from './nest.ts'

/** Characters of a line that are enough to classify it. */
const HEAD = 160
const LONGEST_LABEL = 100
/** Comments and decorators, which belong to the lines below them. */
const PRELUDE = /^(?:\/\/|\/\*|\*|#|--|;|%|@\w|<!--|\{-|\(\*|"""|'''|template\s*<)/
/** Lines that continue the block that began at the same indentation. */
const CONTINUATION =
  /^(?:[)\]}]|\{\s*$|(?:else|elif|elsif|elseif|except|rescue|catch|finally|ensure|end|fi|done|esac|then|do|begin|where|with|until|while\b.*;)\b|<\/|\*\/)/i

interface OpenBlock {
  readonly indent: number
  /** True while the block holds only comments and decorators. */
  isPrelude: boolean
}

/** @param range begins at a line start; default: the whole text. @param path of its outermost blocks. */
export function* readCode(cutting: Cutting, range?: Range, path: readonly string[] = []): Generator<Atom> {
  const { text, lineBreak, max } = cutting
  const { start, end } = range ?? { start: 0, end: text.length }
  const nest = new Nest(max, path)
  const open: OpenBlock[] = []
  let afterBlank = false
  for (const line of linesOf(text, start, end, lineBreak)) {
    const { indent, first } = indentation(text, line.start, line.end)
    if (first === line.end) {
      afterBlank = true
      continue
    }
    const head = text.slice(first, Math.min(line.end, first + HEAD))
    const isPrelude = PRELUDE.test(head)
    while ((open.at(-1)?.indent ?? -1) > indent) close(nest, open)
    const top = open.at(-1)
    const joins = top?.indent === indent && ((top.isPrelude && !afterBlank) || (CONTINUATION.test(head) && !isPrelude))
    let border: number
    if (joins) {
      border = top.isPrelude && isPrelude ? BORDER.sentence : BORDER.never
      if (top.isPrelude && !isPrelude) nest.name(label(head))
      top.isPrelude &&= isPrelude
    } else {
      if (top?.indent === indent) close(nest, open)
      if (open.length === 0) yield* nest.take()
      border = borderAt(open.length, afterBlank)
      open.push({ indent, isPrelude })
      nest.open()
      if (!isPrelude) nest.name(label(head))
    }
    for (const piece of piecesOf(cutting, line, { border, path })) nest.add(piece, piece.border)
    afterBlank = false
  }
  while (open.length > 0) close(nest, open)
  yield* nest.take()
}

function close(nest: Nest, open: OpenBlock[]): void {
  open.pop()
  nest.close()
}

const AFTER_BLANK = [BORDER.block, BORDER.paragraph, BORDER.item]
const WITHOUT_BLANK = [BORDER.item, BORDER.line]

/** Rates a border: higher for outer blocks and after blank lines. */
function borderAt(depth: number, afterBlank: boolean): number {
  return (afterBlank ? AFTER_BLANK[depth] : WITHOUT_BLANK[depth]) ?? (afterBlank ? BORDER.line : BORDER.sentence)
}

/** Formats the line that opens a block as a heading: `class Reader extends Base`. */
function label(head: string): string {
  return head
    .slice(0, LONGEST_LABEL)
    .replace(/[\s{(:=[]+$/, '')
    .trim()
}
