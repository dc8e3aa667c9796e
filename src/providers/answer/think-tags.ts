/**
 * Splits `<think>…</think>` at the beginning of a text into thinking, for servers that leave the tags of open models in the text. It is
 * off by default, because a text about such tags begins the same way. White space around the tags is dropped.
 */

const OPEN = '<think>'
const CLOSE = '</think>'

export type Piece = { readonly type: 'text' | 'thinking'; readonly text: string } | { readonly type: 'thinking-end' }

export class ThinkTags {
  #state: 'before' | 'thought' | 'text' = 'before'
  /** Drops white space at the beginning of the next text. */
  #trims = false
  /** Text that may still turn out to be a tag, or white space before one. */
  #held = ''
  #thought = ''

  push(text: string): Piece[] {
    let rest = this.#held + text
    this.#held = ''
    if (this.#state === 'before') {
      const start = rest.trimStart()
      if (!start.startsWith(OPEN) && OPEN.startsWith(start)) {
        this.#held = rest
        return []
      }
      const isThought = start.startsWith(OPEN)
      this.#state = isThought ? 'thought' : 'text'
      this.#trims = isThought
      if (isThought) rest = start.slice(OPEN.length)
    }
    rest = this.#trimmed(rest)
    if (this.#state === 'text') return pieces('text', rest)
    const end = rest.indexOf(CLOSE)
    const safe = end < 0 ? rest.length - beginningOfTag(rest) : end
    const thought = pieces('thinking', rest.slice(0, safe))
    this.#thought += rest.slice(0, safe)
    if (end < 0) {
      this.#held = rest.slice(safe)
      return thought
    }
    this.#state = 'text'
    this.#trims = true
    return [...thought, { type: 'thinking-end' }, ...pieces('text', this.#trimmed(rest.slice(end + CLOSE.length)))]
  }

  /**
   * Returns the text that was held back.
   * @param isFinished the model was not cut off: a block that it did not close then holds its answer, and is repeated as text.
   */
  end(isFinished: boolean): Piece[] {
    const held = this.#held
    this.#held = ''
    if (this.#state !== 'thought') return pieces('text', held)
    const thought = this.#thought + held
    return [...pieces('thinking', held), ...(isFinished && thought.trim() !== '' ? pieces('text', thought) : [])]
  }

  #trimmed(text: string): string {
    if (!this.#trims) return text
    const start = text.trimStart()
    this.#trims = start === ''
    return start
  }
}

function pieces(type: 'text' | 'thinking', text: string): Piece[] {
  return text === '' ? [] : [{ type, text }]
}

/** Returns the length of a partial closing tag at the end of the text. */
function beginningOfTag(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (text.endsWith(CLOSE.slice(0, length))) return length
  return 0
}
