/** Runs one tool and reports its progress and its end. */

import type { Clock } from '../core/clock.ts'
import type { Nested } from '../core/context.ts'
import type { QueryEvent } from '../core/event.ts'
import { orAborted } from '../util/promise.ts'
import { elapsed } from '../util/clock.ts'
import { bounded, textOf } from './output.ts'

export type Ending =
  | { readonly type: 'returned'; readonly output: unknown; readonly stopped: unknown }
  | { readonly type: 'threw'; readonly thrown: unknown; readonly stopped: unknown }
  /** The tool was stopped and did not end within its grace period. It may still be running. */
  | { readonly type: 'abandoned'; readonly stopped: unknown }

export type News = { readonly type: 'progress'; readonly content: string } | Nested | Ending

type Letter = News & { readonly read?: () => void }

/** Maximum number of unread progress messages; further messages are dropped. */
const MAX_UNREAD = 64
const MAX_PROGRESS_CHARS = 4000

export class Work {
  readonly #clock: Clock
  readonly #startedAt: number
  /** Milliseconds for which the tool was paused because its progress was not read. */
  #heldMs = 0
  #heldSince: number | undefined
  /** Number of pending reads: at most one for a generator, one for each turn that the tool starts. */
  #holders = 0
  #released: Promise<void> | undefined
  /** Milliseconds that the tool worked, without pauses; set when it has ended. */
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

  /** Aborted when the tool has to stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /** @param inContext runs each step of the tool in its call frame. */
  start(call: () => unknown, inContext: <T>(step: () => T) => T): void {
    // Failures arrive as news.
    void this.#drive(call, inContext)
  }

  /** Resolves to the next progress or the ending. Not to be called after the ending. */
  async next(): Promise<News> {
    const letter = await this.#mail.take()
    letter.read?.()
    if (letter.type !== 'progress' && letter.type !== 'nested') this.#ended = true
    return letter
  }

  /** Aborts the tool; abandons it when it has not ended after `grace` milliseconds. */
  stop(reason: unknown, grace: number): void {
    this.#stopping.abort(reason)
    this.after(grace, () => this.#mail.post({ type: 'abandoned', stopped: this.signal.reason }))
  }

  after(ms: number, then: () => void): void {
    this.#clock.sleep(ms, this.#timers.signal).then(then, () => {})
  }

  /** Calls `then` when the tool has worked for `ms` milliseconds. Pauses until progress is read do not count. */
  async limit(ms: number, then: () => void): Promise<void> {
    try {
      for (let left = ms; left > 0; left = ms - this.#worked()) {
        await this.#clock.sleep(left, this.#timers.signal)
        await this.#released
      }
      if (!this.#timers.signal.aborted) then()
    } catch {
      // The tool has ended before.
    }
  }

  /** Milliseconds that the tool has worked, without pauses until progress was read. */
  get durationMs(): number {
    return this.#took ?? this.#worked()
  }

  #worked(): number {
    const now = this.#clock.now()
    const held = this.#heldMs + (this.#heldSince === undefined ? 0 : elapsed(this.#heldSince, now))
    return Math.max(0, elapsed(this.#startedAt, now) - held)
  }

  /** Reports progress of a tool that is not a generator. Does not wait until it is read. */
  progress(content: unknown): void {
    if (this.#mail.size < MAX_UNREAD) this.#show(content)
  }

  /** Reports an event of a turn that the tool started. Resolves when the event was read, at once after the tool was stopped. */
  async forward(event: QueryEvent): Promise<void> {
    if (this.#ended) return
    if (this.signal.aborted) {
      this.#mail.post({ type: 'nested', event })
      return
    }
    const shown = new Promise<void>((resolve) => this.#mail.post({ type: 'nested', event, read: resolve }))
    await orAborted(this.#heldBy(shown), this.signal).catch(() => {})
  }

  /** Stops the tool when the reader has left, and waits at most `grace` milliseconds for its end. */
  async end(grace: number): Promise<void> {
    if (!this.#ended) this.stop(new DOMException('The result is no longer needed.', 'AbortError'), grace)
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

  /** Runs a generator, which continues when its progress was read. */
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

  /** Resolves when the progress was read. For progress that is not shown, yields to the event loop. */
  #shown(value: unknown): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#show(value, resolve)) setImmediate(resolve)
    })
  }

  /** Posts progress. Returns false for empty progress and progress beyond the limit, which is not shown. */
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

/** An ordered queue from several senders to one reader. Senders do not wait for the reader. */
export class Mailbox<T> {
  #letters: T[] = []
  #receive: ((letter: T) => void) | undefined

  post(letter: T): void {
    const receive = this.#receive
    this.#receive = undefined
    if (receive === undefined) this.#letters.push(letter)
    else receive(letter)
  }

  /** Resolves to the oldest message, as soon as one arrives. One reader at a time. */
  take(): Promise<T> {
    if (this.#letters.length > 0) return Promise.resolve(this.#letters.shift() as T)
    return new Promise((resolve) => {
      this.#receive = resolve
    })
  }

  get size(): number {
    return this.#letters.length
  }
}
