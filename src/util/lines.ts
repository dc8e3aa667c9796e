/** Finds the lines of a text by offset, and cuts a text between characters. */

export interface Line {
  readonly start: number
  /** Offset of the line break, or of the end of the text. */
  readonly end: number
  /** Offset of the next line. */
  readonly next: number
}

/** Returns the character that ends lines: CR for a text with CR but without LF, otherwise LF. */
export function lineBreakOf(text: string): '\n' | '\r' {
  return text.includes('\r') && !text.includes('\n') ? '\r' : '\n'
}

/** Returns the line that begins at `start`; the last line may have no line break. */
export function lineAt(text: string, start: number, end: number, lineBreak: string): Line {
  const found = text.indexOf(lineBreak, start)
  if (found === -1 || found >= end) return { start, end, next: end }
  const carriageReturn = found > start && lineBreak === '\n' && text.charCodeAt(found - 1) === 0x0d
  return { start, end: carriageReturn ? found - 1 : found, next: found + 1 }
}

export function* linesOf(text: string, start: number, end: number, lineBreak: string): Generator<Line> {
  for (let at = start; at < end;) {
    const line = lineAt(text, at, end, lineBreak)
    yield line
    at = line.next
  }
}

const WHITE_SPACE = /\s/

export function isWhiteSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return true
  return code >= 0xa0 && WHITE_SPACE.test(text.charAt(at))
}

/** Returns the numbers of the first and last line of a range. @param first number of the first line of the text. */
export function linesIn(
  text: string,
  first: number,
  { start, end }: { readonly start: number; readonly end: number },
): readonly [first: number, last: number] {
  const from = first + countBreaks(text.slice(0, start))
  return [from, from + countBreaks(text.slice(start, end))]
}

function countBreaks(text: string): number {
  return text.split(/\r\n|\r|\n/).length - 1
}

const TAB_WIDTH = 4

/** Returns the columns of a line's leading white space, and the offset of its first other character, or `end`. */
export function indentation(text: string, start: number, end: number): { readonly indent: number; readonly first: number } {
  let indent = 0
  let first = start
  for (; first < end; first++) {
    const code = text.charCodeAt(first)
    if (code === 0x20) indent++
    else if (code === 0x09) indent += TAB_WIDTH - (indent % TAB_WIDTH)
    else if (code !== 0x0c && code !== 0x0d && code !== 0xfeff) break
  }
  return { indent, first }
}

/** Returns the first `length` UTF-16 units of a text, or one less if that would split a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  const partsPair = length < text.length && last >= 0xd800 && last <= 0xdbff
  return text.slice(0, Math.max(0, partsPair ? length - 1 : length))
}
