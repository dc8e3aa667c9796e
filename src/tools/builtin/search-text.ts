/** Finds lines that match in one text, with the lines around them, as grep shows them. */

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
  readonly isMatch: boolean
}

export interface TextSearch {
  readonly expression: RegExp
  /** Lines before and after each match. */
  readonly context: number
  /** Matching lines at most. */
  readonly limit: number
  /** Stands in every line that matches. */
  readonly certain?: string | undefined
}

export interface TextMatches {
  /** In order, each once; a gap in the numbers is a gap in the text. */
  readonly lines: readonly Line[]
  readonly matches: number
}

export function searchText(text: string, { expression, context, limit, certain }: TextSearch): TextMatches {
  if (certain !== undefined && !text.includes(certain)) return { lines: [], matches: 0 }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const found: number[] = []
  for (const [index, line] of lines.entries()) {
    if (found.length >= limit) break
    if (expression.test(line.endsWith('\r') ? line.slice(0, -1) : line)) found.push(index)
  }
  const shown: Line[] = []
  const matching = new Set(found)
  let next = 0
  for (const index of found) {
    for (let at = Math.max(next, index - context); at <= Math.min(index + context, lines.length - 1); at++) {
      const line = lines[at] ?? ''
      shown.push({ number: at + 1, text: around(line, matching.has(at) ? expression : undefined), isMatch: matching.has(at) })
      next = at + 1
    }
  }
  return { lines: shown, matches: found.length }
}

const MAX_LINE = 400

/** Of a long line what stands around its match, whole characters. */
function around(line: string, expression: RegExp | undefined): string {
  const text = line.replace(/\r$/, '')
  if (text.length <= MAX_LINE) return text
  const at = expression === undefined ? 0 : (expression.exec(text)?.index ?? 0)
  const start = Math.max(0, Math.min(at - MAX_LINE / 4, text.length - MAX_LINE))
  const end = start + MAX_LINE
  const cut = text
    .slice(start, end)
    .replace(/^[\uDC00-\uDFFF]/, '')
    .replace(/[\uD800-\uDBFF]$/, '')
  return `${start > 0 ? '[…] ' : ''}${cut}${end < text.length ? ' […]' : ''}`
}

/** A pattern without anything special in it stands for itself, which is found faster than lines are cut. */
export function certainText(
  pattern: string,
  { literal, ignoreCase }: { readonly literal: boolean; readonly ignoreCase: boolean },
): string | undefined {
  return !ignoreCase && (literal || !SPECIAL_CHARACTER.test(pattern)) ? pattern : undefined
}

const SPECIAL_CHARACTER = /[\\^$.*+?()[\]{}|]/
const SPECIAL = /[\\^$.*+?()[\]{}|]/g

/**
 * What the model wrote as an expression: of JavaScript, with the leading `(?i)` of other dialects.
 *
 * @throws SyntaxError for what is no regular expression.
 */
export function expressionOf(
  pattern: string,
  { literal, ignoreCase }: { readonly literal: boolean; readonly ignoreCase: boolean },
): RegExp {
  const flags = ignoreCase ? 'i' : ''
  if (literal) return new RegExp(pattern.replaceAll(SPECIAL, String.raw`\$&`), flags)
  const inline = /^\(\?([imsux]+)\)/.exec(pattern)
  const source = inline === null ? pattern : pattern.slice(inline[0].length)
  const all = ignoreCase || inline?.[1]?.includes('i') === true ? 'i' : ''
  try {
    return new RegExp(source, `${all}u`)
  } catch {
    // Without `u` escapes of characters that need none are allowed.
    return new RegExp(source, all)
  }
}
