/** Draws a question on the screen, and answers it by keys. */

import { edited, EMPTY_DRAFT } from './editor.ts'
import type { Draft } from './editor.ts'
import type { Choice } from './front.ts'
import type { Key } from './keys.ts'
import type { AskedQuestion } from './region.ts'

export class Question {
  readonly settled: Promise<void>
  /** Answered, or given up. */
  isSettled = false
  /** Has stood on the screen: keys answer it. */
  isShown = false
  chosen: number | undefined
  answer: string | undefined
  readonly #text: string
  readonly #choices: readonly Choice[] | undefined
  readonly #settle: () => void
  #selected: number
  #draft: Draft = EMPTY_DRAFT

  /** @param choices absent: it is answered with words. @param selected the choice that Enter takes; -1 for none. */
  constructor(text: string, choices?: readonly Choice[], selected = -1) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.settled = promise
    this.#settle = () => {
      this.isSettled = true
      resolve()
    }
    this.#text = text
    this.#choices = choices
    this.#selected = selected
  }

  get shown(): AskedQuestion {
    return { text: this.#text, choices: this.#choices, selected: this.#selected, draft: this.#draft }
  }

  /** There will be no answer. */
  giveUp(): void {
    this.#settle()
  }

  press(key: Key): void {
    if (this.#choices === undefined) this.#write(key)
    else this.#choose(key, this.#choices)
  }

  #write(key: Key): void {
    if (key.type === 'key' && key.name === 'enter') {
      this.answer = this.#draft.text
      this.#settle()
    } else {
      this.#draft = edited(this.#draft, key) ?? this.#draft
    }
  }

  /** What was pasted never answers. */
  #choose(key: Key, choices: readonly Choice[]): void {
    if (key.type === 'paste') return
    if (key.type === 'text') {
      // A key that is held down sends its letter several times; more than one letter at once was not meant for a question.
      const letter = key.text.toLowerCase()
      const found = choices.findIndex(({ key }) => key === letter)
      if (found !== -1) this.#take(found)
      return
    }
    if (key.name === 'enter' && this.#selected >= 0) this.#take(this.#selected)
    else if (key.name === 'down' || key.name === 'tab') this.#move(1, choices.length)
    else if (key.name === 'up' || key.name === 'backtab') this.#move(-1, choices.length)
  }

  #move(by: -1 | 1, count: number): void {
    this.#selected = this.#selected < 0 && by === -1 ? count - 1 : (this.#selected + by + count) % count
  }

  #take(index: number): void {
    this.chosen = index
    this.#settle()
  }
}
