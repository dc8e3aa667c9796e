/** Reads one attempt to its end, or gives it up when it keeps its reader waiting for too long. */

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../core/clock.ts'
import { CriaError } from '../core/error.ts'
import type { LanguageModel, ModelPart } from '../core/model.ts'
import { orAborted } from '../util/promise.ts'
import { OVER } from './answer-reader.ts'
import type { AnswerReader } from './answer-reader.ts'

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

/** A model that answers without waiting, one in this process, lets the event loop turn once for so many parts. */
const PARTS_PER_TURN = 256

/**
 * The parts of one attempt, up to and with `finish`.
 *
 * @param streamed whether the answer was asked for as a stream, and not in one piece.
 * @throws CriaError `timeout` when the model keeps its reader waiting; the reason of the signal when it is aborted; what the model throws.
 */
export async function* attemptParts(
  reader: AnswerReader,
  model: LanguageModel,
  streamed: boolean,
  { signal: aborted, timeouts, clock }: { readonly signal: AbortSignal; readonly timeouts: Timeouts; readonly clock: Clock },
): AsyncGenerator<ModelPart, void, undefined> {
  const over = new AbortController()
  const watchdog = new Watchdog(model.ref, timeouts, clock, streamed)
  const signal = AbortSignal.any([aborted, watchdog.signal])
  void watchdog.watch(over.signal)
  // At once, also when nobody asks for the next part.
  const leave = (): void => reader.leave(watchdog.signal.aborted)
  signal.addEventListener('abort', leave, { once: true })
  let finished = false
  try {
    for (let received = 0; !finished; received++) {
      // Else timers and signals would have no turn, however many questions are asked one after the other, and aborted signals would be kept.
      if (received % PARTS_PER_TURN === 0) await setImmediate()
      signal.throwIfAborted()
      watchdog.waiting()
      const next = await orAborted(reader.next(), signal)
      watchdog.received()
      if (next.done === true) return
      finished = next.value.type === 'finish'
      yield next.value
    }
  } finally {
    over.abort(OVER)
    signal.removeEventListener('abort', leave)
    // A provider that ignores the signal is not waited for.
    leave()
  }
}

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
    const { firstToken, idle, step } = this.#timeouts
    if (firstToken === null && idle === null && step === null) return
    try {
      for (let ms = this.#timeLeft(); ms > 0; ms = this.#timeLeft()) await this.#clock.sleep(ms, until)
      this.#controller.abort(this.#tooLate())
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

  /** Milliseconds until the answer as a whole takes too long, and until it is silent for too long. */
  #limits(): { readonly whole: number; readonly quiet: number } {
    const now = this.#clock.now()
    // A clock that was set back must not make a limit longer.
    this.#startedAt = Math.min(this.#startedAt, now)
    if (this.#waitingSince !== undefined) this.#waitingSince = Math.min(this.#waitingSince, now)
    const whole = (this.#timeouts.step ?? Infinity) - (now - this.#startedAt)
    return { whole, quiet: (this.#silence() ?? Infinity) - (now - (this.#waitingSince ?? now)) }
  }

  #silence(): number | null {
    return this.#first ? this.#timeouts.firstToken : this.#timeouts.idle
  }

  #timeLeft(): number {
    const { whole, quiet } = this.#limits()
    // The first part may come while the timer of the longer limit sleeps: then the shorter one counts.
    return Math.min(whole, quiet, this.#first ? (this.#timeouts.idle ?? Infinity) : Infinity)
  }

  #tooLate(): CriaError {
    const { whole, quiet } = this.#limits()
    const silent = `${this.#first ? 'sent nothing' : 'stopped sending'} for ${this.#silence()} ms.`
    const complaint = whole < quiet ? `did not finish within ${this.#timeouts.step} ms.` : silent
    const message = `${this.#who} ${complaint}`
    if (this.#streamed || !this.#first) return new CriaError('timeout', message)
    // Made again, it would take as long, and be paid for again.
    return new CriaError('timeout', `${message} The answer was asked for in one piece.`, {
      retryable: false,
      hint: 'Stream the answer, or raise `timeouts.whole`.',
    })
  }
}
