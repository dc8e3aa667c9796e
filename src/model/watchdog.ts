/** Ends an attempt that keeps its reader waiting for too long. */

import type { Clock } from '../core/clock.ts'
import { CriaError } from '../core/error.ts'

/** Milliseconds; `null` means no limit. */
export interface Timeouts {
  /** From the request to the first part of an answer that is streamed; default 120,000. */
  readonly firstToken: number | null
  /** Between two parts; default 60,000. */
  readonly idle: number | null
  /**
   * From the request to an answer that comes in one piece (`stream: false`, `streamTarget: 'none'`, models that cannot stream); default 290,000, since
   * `fetch` of Node gives up after 300,000. Such an attempt is not made again, but a fallback model is asked.
   */
  readonly whole: number | null
  /** For one attempt as a whole; default no limit. */
  readonly step: number | null
}

export const DEFAULT_TIMEOUTS: Timeouts = { firstToken: 120_000, idle: 60_000, whole: 290_000, step: null }

/**
 * Counts only the time that is spent waiting for the provider: a reader who takes his time is no reason to give up.
 * One sleeping timer serves the whole attempt.
 */
export class Watchdog {
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #clock: Clock
  readonly #timeouts: Timeouts
  readonly #who: string
  readonly #streamed: boolean
  #startedAt: number
  #waitingSince: number | undefined
  #first = true

  /**
   * @param who is named in the error: `provider/model`.
   * @param streamed `false`: the answer was asked for in one piece, and its first part is all of it.
   */
  constructor(who: string, timeouts: Timeouts, clock: Clock, streamed = true) {
    this.#who = who
    this.#streamed = streamed
    this.#timeouts = streamed ? timeouts : { ...timeouts, firstToken: timeouts.whole }
    this.#clock = clock
    this.#startedAt = clock.now()
    this.signal = this.#controller.signal
  }

  /** Watches until `until` is aborted. */
  async watch(until: AbortSignal): Promise<void> {
    if (this.#timeouts.firstToken === null && this.#timeouts.idle === null && this.#timeouts.step === null) return
    try {
      for (;;) {
        const left = this.#timeLeft()
        if (left.ms <= 0) {
          this.#controller.abort(this.#tooLate(left.complaint))
          return
        }
        await this.#clock.sleep(left.ms, until)
      }
    } catch {
      // The attempt is over.
    }
  }

  waiting(): void {
    this.#waitingSince = this.#clock.now()
  }

  received(): void {
    this.#waitingSince = undefined
    this.#first = false
  }

  #tooLate(complaint: string): CriaError {
    const message = `${this.#who} ${complaint}`
    if (this.#streamed || !this.#first) return new CriaError('timeout', message)
    // Made again, it would take as long, and be paid for again.
    return new CriaError('timeout', `${message} The answer was asked for in one piece.`, {
      retryable: false,
      hint: 'Stream the answer, or raise `timeouts.whole`.',
    })
  }

  #timeLeft(): { ms: number; complaint: string } {
    const now = this.#clock.now()
    // A clock that was set back must not make a limit longer.
    this.#startedAt = Math.min(this.#startedAt, now)
    if (this.#waitingSince !== undefined) this.#waitingSince = Math.min(this.#waitingSince, now)
    const silence = this.#first ? this.#timeouts.firstToken : this.#timeouts.idle
    const silent = this.#waitingSince === undefined ? 0 : now - this.#waitingSince
    const complaint = this.#first ? `sent nothing for ${silence} ms.` : `stopped sending for ${silence} ms.`
    const quiet = { ms: (silence ?? Infinity) - silent, complaint }
    const whole = {
      ms: (this.#timeouts.step ?? Infinity) - (now - this.#startedAt),
      complaint: `did not finish within ${this.#timeouts.step} ms.`,
    }
    const left = whole.ms < quiet.ms ? whole : quiet
    // The first part may come while the timer of the longer limit sleeps: then the shorter one counts.
    return { ...left, ms: Math.min(left.ms, this.#first ? (this.#timeouts.idle ?? Infinity) : Infinity) }
  }
}
