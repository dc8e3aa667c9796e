/** Source code as blocks: remarks are prose, every other line stands for itself. Languages are told by nothing but their remarks. */

import type { Block } from './unit.ts'

/** `#include` and `#[test]` are no remarks, `#!` is for the machine. */
const LINE_REMARK = /^(?:\/\/[/!]*|#+:?(?=\s|$)|--+(?=\s|$)|;+(?=\s|$)|%+(?=\s|$))/
const OPENING = /^(?:[rRbBuU]{0,2}("""|''')|(\/\*+!?)|(<!--))/
const CLOSING: Readonly<Record<string, string>> = { '"""': '"""', "'''": "'''", '<!--': '-->' }
/** A name that is given a value: the remark above it says what the value is. */
const VALUE = /^[^"'`()]*[:=]\s*(?:[-+]?\d|["'`]|true\b|false\b|null\b|none\b)/i
/** What begins a line inside of a long remark. */
const MARGIN = /^\*+(?!\/)[ \t]*/

/** Between a remark and the line right below it. */
const CLOSES_REMARK = /^(?:\s*(?:\*+\/|-->))?[ \t]*\r?\n[ \t]*$/

export function readCodeBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let remark: Block | undefined
  /** What ends the long remark that is open. */
  let closing: string | undefined
  let offset = 0
  const close = (): void => {
    if (remark !== undefined) blocks.push(remark)
    remark = undefined
  }
  for (const line of text.split('\n')) {
    let start = offset + line.length - line.trimStart().length
    const end = offset + line.trimEnd().length
    offset += line.length + 1
    if (closing === undefined) {
      const opening = OPENING.exec(text.slice(start, Math.min(end, start + 20)))
      const single = LINE_REMARK.exec(text.slice(start, Math.min(end, start + 200)))
      if (opening !== null) {
        close()
        closing = CLOSING[opening[1] ?? opening[3] ?? ''] ?? '*/'
        start += opening[0].length
      } else if (single !== null) {
        remark = extended(remark, ...trimmed(text, start + single[0].length, end))
        continue
      } else {
        const above = remark ?? blocks.at(-1)
        const isRightAbove = above?.kind === 'sentence' && CLOSES_REMARK.test(text.slice(above.end, start))
        const follows = isRightAbove && VALUE.test(text.slice(start, Math.min(end, start + 200)))
        close()
        if (saysSomething(text, start, end)) blocks.push({ start, end, kind: 'code', ...(follows ? { follows } : {}) })
        continue
      }
    }
    const found = text.slice(start, end).indexOf(closing)
    const isLast = found !== -1
    const stop = start + found
    const margin = MARGIN.exec(text.slice(start, Math.min(end, start + 200)))?.[0].length ?? 0
    const [from, to] = trimmed(text, start + margin, isLast ? stop : end)
    // An empty line parts paragraphs.
    if (from >= to) close()
    else remark = extended(remark, from, to)
    if (!isLast) continue
    close()
    const rest = trimmed(text, stop + closing.length, end)
    if (saysSomething(text, ...rest)) blocks.push({ start: rest[0], end: rest[1], kind: 'code' })
    closing = undefined
  }
  close()
  return blocks
}

function extended(remark: Block | undefined, start: number, end: number): Block | undefined {
  if (start >= end) return remark
  return remark === undefined ? { start, end, kind: 'sentence' } : { ...remark, end }
}

function trimmed(text: string, start: number, end: number): [number, number] {
  const part = text.slice(start, Math.max(start, end))
  return [start + part.length - part.trimStart().length, start + part.trimEnd().length]
}

/** A bracket alone says nothing. */
function saysSomething(text: string, start: number, end: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.slice(start, end))
}
