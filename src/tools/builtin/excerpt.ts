/** Cuts lines out of a text, within limits, with a note of what is left out. */

import { beginningOf } from '../../util/lines.ts'

export interface LineRange {
  /** From 1. */
  readonly first: number
  readonly count: number
}

const MAX_LINE = 2000
const MAX_CHARS = 50_000
/** Bytes that are passed by in search of a line. */
const MAX_PASSED = 500_000_000

export function excerpt(text: string, { first, count }: LineRange): string {
  const lines = text.split('\n')
  // A line feed ends a line and begins none.
  const total = text.endsWith('\n') ? lines.length - 1 : lines.length
  if (first > total) return `(the file has only ${total} lines)`
  const taken: string[] = []
  let room = MAX_CHARS
  for (const line of lines.slice(first - 1, Math.min(first - 1 + count, total))) {
    const cut = cutLine(line)
    if (cut.length + 1 > room && taken.length > 0) break
    room -= cut.length + 1
    taken.push(cut)
  }
  const last = first - 1 + taken.length
  const body = taken.join('\n') + (last === total && text.endsWith('\n') ? '\n' : '')
  if (first === 1 && last === total) return body
  const more = last < total ? ` Read on with offset: ${last + 1}.` : ''
  return `${body}\n[Lines ${first} to ${last} of ${total}.${more}]`
}

/**
 * The line without half a character at the cut.
 *
 * @param length of the whole line, where `line` is only its beginning.
 */
function cutLine(line: string, length: number = line.length): string {
  if (length <= MAX_LINE) return line
  const head = beginningOf(line, MAX_LINE)
  return `${head} [… ${(length - head.length).toLocaleString('en-US')} more characters in this line]`
}

/** As `excerpt`, without ever holding more than what is shown. */
export async function excerptOfStream(
  pieces: AsyncIterable<Uint8Array>,
  encoding: string,
  { first, count }: LineRange,
): Promise<string> {
  const decoder = new TextDecoder(encoding)
  const taken: string[] = []
  let [line, current, length, room, passed] = [1, '', 0, MAX_CHARS, 0]
  const full = (): boolean => taken.length >= count || (room <= 0 && taken.length > 0)
  const endLine = (): void => {
    if (line >= first) {
      const shown = cutLine(current, length)
      room -= shown.length + 1
      if (room >= 0 || taken.length === 0) taken.push(shown.replace(/\r$/, ''))
    }
    line++
    current = ''
    length = 0
  }
  for await (const piece of pieces) {
    passed += piece.length
    if (passed > MAX_PASSED) return `(line ${first} lies too far inside the file to be read; search_files finds text in it)`
    const text = decoder.decode(piece, { stream: true })
    let at = 0
    while (at < text.length && !full()) {
      const feed = text.indexOf('\n', at)
      const end = feed === -1 ? text.length : feed
      if (line >= first && current.length <= MAX_LINE) current += text.slice(at, Math.min(end, at + MAX_LINE + 1))
      length += end - at
      if (feed !== -1) endLine()
      at = end + 1
    }
    if (full()) break
  }
  if (!full() && length > 0) endLine()
  if (taken.length === 0) return `(the file has only ${line - 1} lines)`
  const last = first - 1 + taken.length
  const more = full() ? ` There may be more: offset ${last + 1}.` : ''
  return `${taken.join('\n')}\n[Lines ${first} to ${last} of a file too large to be edited.${more}]`
}
