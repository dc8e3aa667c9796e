/** Limits one attempt: gives it up after a time-out, and stops an endless answer before it fills the journal. */

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../core/clock.ts'
import { CriaError } from '../core/error.ts'
import type { LanguageModel, ModelPart } from '../core/model.ts'
import { orAborted } from '../util/promise.ts'
import { OVER } from './answer-reader.ts'
import type { AnswerReader } from './answer-reader.ts'

/** Milliseconds; `null` means no limit. */
export interface Timeouts {
  /** From the request to the first part of a streamed answer; default 120,000. */
  readonly firstToken: number | null
  /** Between two parts; default 60,000. */
  readonly idle: number | null
  /**
   * From the request to an answer that is not streamed (`stream: false`, `streamTarget: 'none'`, models that cannot stream); default 290,000,
   * since `fetch` of Node gives up after 300,000. Such an attempt is not retried, but leads to a fallback model.
   */
  readonly whole: number | null
  /** For one attempt as a whole; default no limit. */
  readonly step: number | null
}

export const DEFAULT_TIMEOUTS: Timeouts = { firstToken: 120_000, idle: 60_000, whole: 290_000, step: null }

/** Number of parts after which a model that never waits, such as a local one, yields to the event loop. */
const PARTS_PER_TURN = 256

/**
 * Yields the parts of one attempt, up to and including `finish`.
 *
 * @param streamed `true`: the answer was requested as a stream.
 * @throws CriaError `timeout` if the model is too slow; the reason of the signal if it is aborted; errors of the model.
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
  // Leaves at once, even if the next part is not requested.
  const leave = (): void => reader.leave(watchdog.signal.aborted)
  signal.addEventListener('abort', leave, { once: true })
  let finished = false
  try {
    for (let received = 0; !finished; received++) {
      // Otherwise timers and signals would starve during a series of requests, and aborted signals would not be released.
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
    // Does not wait for a provider that ignores the signal.
    leave()
  }
}

/**
 * Counts only the time spent waiting for the provider, not the time of a slow reader.
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
   * @param who `provider/model`, for the error.
   * @param streamed `false`: the whole answer arrives as its first part.
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

  /** Returns the milliseconds until the time-out of the whole answer, and until that of its silence. */
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
    // The first part may arrive while the timer of the longer limit runs: then the shorter limit applies.
    return Math.min(whole, quiet, this.#first ? (this.#timeouts.idle ?? Infinity) : Infinity)
  }

  #tooLate(): CriaError {
    const { whole, quiet } = this.#limits()
    const silent = `${this.#first ? 'sent nothing' : 'stopped sending'} for ${this.#silence()} ms.`
    const complaint = whole < quiet ? `did not finish within ${this.#timeouts.step} ms.` : silent
    const message = `${this.#who} ${complaint}`
    if (this.#streamed || !this.#first) return new CriaError('timeout', message)
    // A retry would take as long and be paid again.
    return new CriaError('timeout', `${message} The answer was requested without streaming.`, {
      retryable: false,
      hint: 'Stream the answer, or raise `timeouts.whole`.',
    })
  }
}

/** Limits of one answer in characters, and in number of calls; `null` for no limit. */
export interface AnswerLimits {
  readonly text: number | null
  readonly thinking: number | null
  /** Characters of the arguments of all calls together. */
  readonly arguments: number | null
  readonly calls: number | null
}

/** Default limits: several times the output limit of any model. */
export const DEFAULT_ANSWER_LIMITS: AnswerLimits = { text: 16_000_000, thinking: 16_000_000, arguments: 16_000_000, calls: 1000 }

const NAMES: Readonly<Record<keyof AnswerLimits, string>> = {
  text: 'characters of text',
  thinking: 'characters of thinking',
  arguments: 'characters of arguments',
  calls: 'tool calls',
}

/** Returns a function that counts the parts of one answer. @param ref the model, for the error. */
export function createCeilings(limits: AnswerLimits, ref: string): (part: ModelPart) => void {
  let counts = { text: 0, thinking: 0, arguments: 0, calls: 0 }
  /** Ids of calls whose arguments were already counted while they were streamed. */
  const streamed = new Set<string>()

  function count(name: keyof AnswerLimits, more: number): void {
    counts[name] += more
    const limit = limits[name]
    if (limit === null || counts[name] <= limit) return
    throw new CriaError('invalid_response', `${ref} was stopped: its answer is longer than ${limit} ${NAMES[name]}.`, {
      retryable: false,
      hint: `The text so far is kept. To raise the limit, set \`answerLimits: { ${name} }\`.`,
      details: { limit: name, most: limit },
    })
  }

  /** @throws CriaError `invalid_response`, not retryable, if the answer exceeds a limit. */
  return function add(part) {
    if (part.type === 'text' || part.type === 'thinking') count(part.type, part.text.length)
    else if (part.type === 'tool-input') {
      if (!streamed.has(part.id)) count('calls', 1)
      streamed.add(part.id)
      count('arguments', part.delta.length)
    } else if (part.type === 'tool-call' && !streamed.has(part.id)) {
      count('calls', 1)
      if (typeof part.input === 'string') count('arguments', part.input.length)
    } else if (part.type === 'restart') {
      streamed.clear()
      counts = { text: 0, thinking: 0, arguments: 0, calls: 0 }
    }
  }
}
