/** A queue from several senders to one reader, in order. Nobody waits for a letter to be read. */
export class Mailbox<T> {
  #letters: T[] = []
  #wake: ((letter: T) => void) | undefined

  post(letter: T): void {
    const wake = this.#wake
    this.#wake = undefined
    if (wake === undefined) this.#letters.push(letter)
    else wake(letter)
  }

  /** The oldest letter, as soon as there is one. One reader at a time. */
  take(): Promise<T> {
    if (this.#letters.length > 0) return Promise.resolve(this.#letters.shift() as T)
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  get size(): number {
    return this.#letters.length
  }
}
