/** Text with the line ends of a file, which models neither see nor write. */

export type LineEnd = '\n' | '\r\n'

/** Line feeds only. */
export function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Line ends of a text in their order. */
export function lineEndsOf(text: string): LineEnd[] {
  const ends: LineEnd[] = []
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    ends.push(at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n')
  }
  return ends
}

/** What most lines end in; a tie, and no line at all, is a line feed. */
export function usualLineEnd(ends: readonly LineEnd[]): LineEnd {
  return ends.filter((end) => end === '\r\n').length * 2 > ends.length ? '\r\n' : '\n'
}

/** Puts the ends back, one for each line feed of `text`. */
export function withLineEnds(text: string, ends: readonly LineEnd[]): string {
  if (!ends.includes('\r\n')) return text
  return text
    .split('\n')
    .map((line, index, { length }) => (index === length - 1 ? line : `${line}${ends[index] ?? '\n'}`))
    .join('')
}
