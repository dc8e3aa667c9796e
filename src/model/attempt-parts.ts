/** Reads one attempt to its end, or gives it up. */

import { setImmediate } from 'node:timers/promises'
import type { LanguageModel, ModelPart } from '../core/model.ts'
import { orAborted } from '../util/promise.ts'
import type { ModelContext } from './answer.ts'
import { OVER } from './answer-reader.ts'
import type { AnswerReader } from './answer-reader.ts'
import { Watchdog } from './watchdog.ts'

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
  { signal: aborted, timeouts, clock }: ModelContext,
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
