/**
 * Splits `<think>…</think>` at the beginning of a text into thinking, for servers that leave the tags of open models in the text. Only
 * where that is asked for: a text about such tags begins the same way. White space around the tags belongs to neither side.
 */

const OPEN = '<think>'
const CLOSE = '</think>'

/** Where in the text we are; `before…` and `after…` swallow white space. */
type State = 'before' | 'beforeThought' | 'thought' | 'afterThought' | 'text'

export type Piece =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'thinking-end' }

export class ThinkTags {
  #state: State = 'before'
  /** Text that may still turn out to be a tag, or white space before one. */
  #held = ''
  #thought = ''

  push(text: string): Piece[] {
    const out: Piece[] = []
    let rest = this.#held + text
    this.#held = ''
    while (rest !== '') rest = this.#step(rest, out)
    return out
  }

  /**
   * What is left when the text is over.
   * @param isFinished the model ended of itself: then a block that was never closed holds its answer, which is repeated as text.
   */
  end(isFinished: boolean): Piece[] {
    const held = this.#held
    this.#held = ''
    if (this.#state !== 'thought') return held === '' ? [] : [{ type: 'text', text: held }]
    const thought = this.#thought + held
    return [
      ...(held === '' ? [] : [{ type: 'thinking', text: held } as const]),
      ...(isFinished && thought.trim() !== '' ? [{ type: 'text', text: thought } as const] : []),
    ]
  }

  /** Takes something off the front, or holds all of it back; returns what is left. */
  #step(text: string, out: Piece[]): string {
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
        if (safe > 0) {
          out.push({ type: 'thinking', text: text.slice(0, safe) })
          this.#thought += text.slice(0, safe)
        }
        if (end < 0) {
          this.#held = text.slice(safe)
          return ''
        }
        out.push({ type: 'thinking-end' })
        this.#thought = ''
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
