/** The facts that a Markdown file states about itself before its text: each may be an answer, none belongs to a sentence. */

import type { Block } from './unit.ts'

const FENCE = /^(---|\+\+\+)[ \t\r]*$/
/** A field, an element of a list, a comment, or what belongs to the line above. */
const LINE = /^(?:[\w-]+[ \t]*[:=]|[ \t]*-[ \t]|[ \t]+\S|#|[ \t\r]*$)/
/** The passage carries it already. A field without a value says nothing. */
const SILENT = /^(?:title[ \t]*[:=]|[\w-]+[ \t]*[:=][ \t\r]*$|#|[ \t\r]*$)/
const MOST_LINES = 100

/** @returns a block for each line that says something, and how many lines the front matter has: 0 where there is none. */
export function readFrontMatter(text: string): { blocks: Block[]; lines: number } {
  const none = { blocks: [], lines: 0 }
  const fence = FENCE.exec(text.slice(0, 20).split('\n', 1)[0] ?? '')?.[1]
  if (fence === undefined) return none
  const blocks: Block[] = []
  let at = 0
  for (let count = 0; count < MOST_LINES && at < text.length; count++) {
    const stop = text.indexOf('\n', at)
    const line = text.slice(at, stop === -1 ? text.length : stop)
    if (count > 0 && FENCE.exec(line)?.[1] === fence) return { blocks, lines: count + 1 }
    if (count > 0 && !LINE.test(line)) return none
    if (count > 0 && !SILENT.test(line)) {
      const said = line.trimStart().replace(/^-[ \t]+/, '')
      blocks.push({ start: at + line.length - said.length, end: at + line.trimEnd().length, kind: 'item' })
    }
    if (stop === -1) return none
    at = stop + 1
  }
  return none
}
