/** Keeps a limited number of values by key, such as those of the latest sessions. */

/** A map of limited size: setting a value beyond the limit drops the least recently used one. */
export class Recent<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) return
      this.#entries.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
