/** Runs one tool and yields its progress and its end. */

import type { Clock } from '../core/clock.ts'
import type { Nested } from '../core/context.ts'
import type { QueryEvent } from '../core/event.ts'
import { orAborted } from '../util/promise.ts'
import { elapsed } from '../util/clock.ts'
import { bounded, textOf } from './output.ts'

export type Ending =
  | { readonly type: 'returned'; readonly output: unknown; readonly stopped: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown; readonly stopped: unknown }
  /** It was told to stop, and did not within its grace. It may still be running. */
  | { readonly type: 'abandoned'; readonly stopped: unknown }

export type News = { readonly type: 'progress'; readonly content: string } | Nested | Ending

type Letter = News & { readonly read?: () => void }

/** Progress that nobody has read yet; more than that is dropped. */
const MAX_UNREAD = 64
const MAX_PROGRESS_CHARS = 4000

export class Work {
  readonly #clock: Clock
  readonly #startedAt: number
  /** Milliseconds for which the tool stood still because its progress was not read. */
  #heldMs = 0
  #heldSince: number | undefined
  /** What it waits for: a generator for one thing, turns that it makes for one each. */
  #holders = 0
  #released: Promise<void> | undefined
  /** Milliseconds of its own that it took. */
  #took: number | undefined
  readonly #mail = new Mailbox<Letter>()
  readonly #stopping = new AbortController()
  readonly #timers = new AbortController()
  #progressLeft: number
  #ended = false

  constructor(clock: Clock, { maxProgressChars }: { readonly maxProgressChars: number }) {
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#progressLeft = maxProgressChars
  }

  /** Tells the tool to stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** @param inContext runs each step of the tool where it belongs. */
  start(call: () => unknown, inContext: <T>(step: () => T) => T): void {
    // Whatever goes wrong in there becomes news.
    void this.#drive(call, inContext)
  }

  /** What happened next. After an ending there is nothing more. */
  async next(): Promise<News> {
    const letter = await this.#mail.take()
    letter.read?.()
    if (letter.type !== 'progress' && letter.type !== 'nested') this.#ended = true
    return letter
  }

  /** Work that has not ended `grace` milliseconds later is abandoned. */
  stop(reason: unknown, grace: number): void {
    this.#stopping.abort(reason)
    this.after(grace, () => this.#mail.post({ type: 'abandoned', stopped: this.signal.reason }))
  }

  after(ms: number, then: () => void): void {
    this.#clock.sleep(ms, this.#timers.signal).then(then, () => {})
  }

  /** Stops the tool when it has worked for `ms` milliseconds; while it waits for its progress to be read it does not work. */
  async limit(ms: number, then: () => void): Promise<void> {
    try {
      for (let left = ms; left > 0; left = ms - this.#worked()) {
        await this.#clock.sleep(left, this.#timers.signal)
        await this.#released
      }
      if (!this.#timers.signal.aborted) then()
    } catch {
      // It has ended before.
    }
  }

  /** Milliseconds that the tool has worked; what its reader took to read its progress is not among them. */
  get durationMs(): number {
    return this.#took ?? this.#worked()
  }

  #worked(): number {
    const now = this.#clock.now()
    const held = this.#heldMs + (this.#heldSince === undefined ? 0 : elapsed(this.#heldSince, now))
    return Math.max(0, elapsed(this.#startedAt, now) - held)
  }

  /** For tools that are no generators: nobody waits until it was read. */
  progress(content: unknown): void {
    if (this.#mail.size < MAX_UNREAD) this.#show(content)
  }

  /** Shows an event of a turn that the tool makes. Resolves when it was read, at once for a tool that is to stop. */
  async forward(event: QueryEvent): Promise<void> {
    if (this.#ended) return
    if (this.signal.aborted) {
      this.#mail.post({ type: 'nested', event })
      return
    }
    const shown = new Promise<void>((resolve) => this.#mail.post({ type: 'nested', event, read: resolve }))
    await orAborted(this.#heldBy(shown), this.signal).catch(() => {})
  }

  /** Whoever reads has left: what still runs is stopped, and waited for as long as its grace lasts. */
  async end(grace: number): Promise<void> {
    if (!this.#ended) this.stop(new DOMException('Nobody waits for the result any more.', 'AbortError'), grace)
    while (!this.#ended) await this.next()
    this.#timers.abort()
  }

  async #drive(call: () => unknown, inContext: <T>(step: () => T) => T): Promise<void> {
    const stopped = (): unknown => (this.signal.aborted ? this.signal.reason : undefined)
    try {
      let output: unknown = await inContext(call)
      while (isGenerator(output)) output = await this.#drain(output, inContext)
      this.#took = this.#worked()
      this.#mail.post({ type: 'returned', output, stopped: stopped() })
    } catch (thrown) {
      this.#took = this.#worked()
      this.#mail.post({ type: 'threw', thrown, stopped: stopped() })
    }
  }

  /** A generator goes on when its progress was read. */
  async #drain(generator: Generated, inContext: <T>(step: () => T) => T): Promise<unknown> {
    try {
      for (;;) {
        const { done, value } = await inContext(() => generator.next())
        if (done === true) return value
        await orAborted(this.#heldBy(this.#shown(value)), this.signal)
      }
    } catch (thrown) {
      await inContext(() => generator.return?.(undefined))
      throw thrown
    }
  }

  async #heldBy(shown: Promise<void>): Promise<void> {
    if (this.#holders++ === 0) this.#heldSince = this.#clock.now()
    this.#released = shown
    await shown
    if (--this.#holders > 0) return
    this.#heldMs += elapsed(this.#heldSince ?? 0, this.#clock.now())
    this.#heldSince = undefined
    this.#released = undefined
  }

  /** Resolves when the progress was read; progress that is not shown still gives the rest of the process a turn. */
  #shown(value: unknown): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#show(value, resolve)) setImmediate(resolve)
    })
  }

  /** Whether it will be read: what is empty, or beyond the limit, is not shown. */
  #show(value: unknown, read?: () => void): boolean {
    const text = textOf(value)
    if (this.#progressLeft <= 0 || text.trim() === '') return false
    const content = bounded(text, Math.min(MAX_PROGRESS_CHARS, this.#progressLeft))
    this.#progressLeft -= content.length
    this.#mail.post({ type: 'progress', content, ...(read === undefined ? {} : { read }) })
    if (this.#progressLeft <= 0) this.#mail.post({ type: 'progress', content: '[more progress is not shown]' })
    return true
  }
}

interface Generated {
  next(): { done?: boolean; value: unknown } | Promise<{ done?: boolean; value: unknown }>
  return?(value: undefined): unknown
}

function isGenerator(value: unknown): value is Generated {
  if (typeof value !== 'object' || value === null || typeof (value as Partial<Generated>).next !== 'function') return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}

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
