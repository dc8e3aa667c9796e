/** A question at the bottom of the screen: how it is drawn, and what keys do to it. */

import { edited, EMPTY_DRAFT } from './editor.ts'
import type { Draft } from './editor.ts'
import type { Choice } from './front.ts'
import type { Key } from './keys.ts'

export class Question {
  readonly text: string
  /** Absent: it is answered with words. */
  readonly choices: readonly Choice[] | undefined
  /** The choice that Enter takes; -1: none yet. */
  selected: number
  draft: Draft = EMPTY_DRAFT
  /** Has stood on the screen: keys answer it. */
  isShown = false
  /** Answered, or given up. */
  isSettled = false
  /** Resolves to the choice or the words; `undefined` when there is no answer. */
  readonly answer: Promise<number | string | undefined>
  readonly #resolve: (answer: number | string | undefined) => void

  constructor(text: string, choices?: readonly Choice[], selected = -1) {
    this.text = text
    this.choices = choices
    this.selected = selected
    const { promise, resolve } = Promise.withResolvers<number | string | undefined>()
    this.answer = promise
    this.#resolve = resolve
  }

  /** @param answer absent: there will be none. */
  settle(answer?: number | string): void {
    this.isSettled = true
    this.#resolve(answer)
  }

  press(key: Key): void {
    const name = key.type === 'key' ? key.name : undefined
    if (this.choices === undefined) {
      if (name === 'enter') this.settle(this.draft.text)
      else this.draft = edited(this.draft, key)
    } else if (key.type === 'text') {
      // A key that is held down sends its letter several times; more than one letter at once was not meant for a question.
      const found = this.choices.findIndex((choice) => choice.key === key.text.toLowerCase())
      if (found !== -1) this.settle(found)
    } else if (name === 'enter') {
      if (this.selected >= 0) this.settle(this.selected)
    } else if (name === 'down' || name === 'tab') {
      this.selected = (this.selected + 1) % this.choices.length
    } else if (name === 'up' || name === 'backtab') {
      this.selected = (this.selected <= 0 ? this.choices.length : this.selected) - 1
    }
    // What was pasted never answers.
  }
}
