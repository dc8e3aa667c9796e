/** Answers that are kept as long as the process lives. */

import type { CacheStore, Keeping } from '../core/cache.ts'

export class MemoryCache implements CacheStore {
  /** Least recently used first. */
  readonly #entries = new Map<string, { readonly value: string; readonly until: number }>()

  get(key: string, now: number): string | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= now) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: string, { now, until, max }: Keeping): void {
    for (const [other, entry] of this.#entries) if (entry.until <= now) this.#entries.delete(other)
    this.#entries.delete(key)
    this.#entries.set(key, { value, until })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= max) break
      this.#entries.delete(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}
