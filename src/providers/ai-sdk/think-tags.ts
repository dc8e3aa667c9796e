/**
 * Splits `<think>…</think>` at the beginning of the text into thinking, for servers that leave the tags of open models in the text. Only
 * where it was asked for: a text about such tags begins the same way.
 */

import type { ModelPart } from '../../core/model.ts'

const OPEN = '<think>'
const CLOSE = '</think>'

export async function* splitThinkTags(parts: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart, void, undefined> {
  let state: 'before' | 'inside' | 'after' = 'before'
  /** Text that may still turn out to be a tag, or white space around one. */
  let held = ''
  for await (const part of parts) {
    if (part.type !== 'text' || part.text === '') {
      if (part.type === 'finish' && held !== '')
        yield state === 'inside' ? { type: 'thinking', text: held } : { type: 'text', text: held }
      if (part.type === 'finish' || part.type === 'restart') held = ''
      if (part.type === 'restart') state = 'before'
      yield part
      continue
    }
    let text = held + part.text
    held = ''
    if (state === 'before') {
      const start = text.trimStart()
      if (start.startsWith(OPEN)) {
        state = 'inside'
        text = start.slice(OPEN.length).replace(/^\n/, '')
      } else if (OPEN.startsWith(start)) {
        held = text
        continue
      } else {
        state = 'after'
      }
    }
    if (state === 'inside') {
      const end = text.indexOf(CLOSE)
      if (end < 0) {
        const safe = text.length - partialTag(text)
        held = text.slice(safe)
        if (safe > 0) yield { type: 'thinking', text: text.slice(0, safe) }
        continue
      }
      if (end > 0) yield { type: 'thinking', text: text.slice(0, end) }
      yield { type: 'thinking-end' }
      state = 'after'
      text = text.slice(end + CLOSE.length).trimStart()
    }
    if (text !== '') yield { ...part, text }
  }
}

/** How many characters at the end may be the beginning of the closing tag. */
function partialTag(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (text.endsWith(CLOSE.slice(0, length))) return length
  return 0
}
