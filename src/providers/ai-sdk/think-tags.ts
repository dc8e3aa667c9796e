/**
 * Splits `<think>…</think>` at the beginning of the text into thinking, for servers that leave the tags of open models in the text. Only
 * where it was asked for: a text about such tags begins the same way. White space around the tags belongs to neither side.
 */

import type { ModelPart } from '../../core/model.ts'

const OPEN = '<think>'
const CLOSE = '</think>'

export async function* splitThinkTags(parts: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart, void, undefined> {
  let splitter = new Splitter()
  for await (const part of parts) {
    if (part.type === 'text' && part.text !== '') {
      yield* splitter.push(part.text)
      continue
    }
    if (part.type === 'finish') yield* splitter.end()
    if (part.type === 'restart') splitter = new Splitter()
    yield part
  }
}

/** Where in the text we are; `before…` and `after…` swallow white space. */
type State = 'before' | 'beforeThought' | 'thought' | 'afterThought' | 'text'

class Splitter {
  #state: State = 'before'
  /** Text that may still turn out to be a tag, or white space before one. */
  #held = ''

  push(text: string): ModelPart[] {
    const out: ModelPart[] = []
    let rest = this.#held + text
    this.#held = ''
    while (rest !== '') rest = this.#step(rest, out)
    return out
  }

  end(): ModelPart[] {
    const held = this.#held
    this.#held = ''
    if (held === '') return []
    return [this.#state === 'thought' ? { type: 'thinking', text: held } : { type: 'text', text: held }]
  }

  /** Takes something off the front, or holds all of it back; returns what is left. */
  #step(text: string, out: ModelPart[]): string {
    switch (this.#state) {
      case 'before': {
        const start = text.trimStart()
        if (start.startsWith(OPEN)) {
          this.#state = 'beforeThought'
          return start.slice(OPEN.length)
        }
        if (OPEN.startsWith(start)) this.#held = text
        else this.#state = 'text'
        return this.#state === 'text' ? text : ''
      }
      case 'beforeThought': {
        const start = text.trimStart()
        if (start !== '') this.#state = 'thought'
        return start
      }
      case 'thought': {
        const end = text.indexOf(CLOSE)
        const safe = end < 0 ? text.length - beginningOfTag(text) : end
        if (safe > 0) out.push({ type: 'thinking', text: text.slice(0, safe) })
        if (end < 0) {
          this.#held = text.slice(safe)
          return ''
        }
        out.push({ type: 'thinking-end' })
        this.#state = 'afterThought'
        return text.slice(end + CLOSE.length)
      }
      case 'afterThought': {
        const start = text.trimStart()
        if (start !== '') this.#state = 'text'
        return start
      }
      default:
        out.push({ type: 'text', text })
        return ''
    }
  }
}

/** How many characters at the end may be the beginning of the closing tag. */
function beginningOfTag(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(CLOSE.slice(0, length))) return length
  }
  return 0
}
