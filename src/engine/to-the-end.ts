/** Brings a turn to its end: whatever happens in it, one terminal event comes last. */

import type { Station } from '../core/context.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import { errorInfo } from '../model/error-info.ts'
import { timeExceeded } from './budget-exceeded.ts'
import { steeredTooLate } from './take-steering.ts'
import type { Turn } from './turn.ts'

export { abortReasonOf, causeOf } from '../model/error-info.ts'

/** @param work yields the terminal event itself when it succeeds. */
export async function* toTheEnd(turn: Turn, work: Station<unknown>): Station<void> {
  const { ctx, options } = turn
  const stopTimer = limitTime(turn)
  try {
    yield* work
  } catch (thrown) {
    const error = toCriaError(thrown)
    turn.span.fail(error)
    yield* steeredTooLate(turn)
    if (ctx.signal.aborted && (options.abortSignal?.aborted === true || error.code === 'aborted')) {
      yield { type: 'cancelled', reason: reasonOf(options.abortSignal?.reason) }
    } else {
      yield { type: 'error', error: errorInfo(error) }
    }
  } finally {
    stopTimer()
  }
}

function limitTime(turn: Turn): () => void {
  const { timeouts, budget } = turn.options
  const over = new AbortController()
  const endAfter = (limit: number | null | undefined, reason: (limit: number) => CriaError): void => {
    if (limit === null || limit === undefined) return
    turn.clock.sleep(limit, over.signal).then(
      () => turn.end(reason(limit)),
      () => {},
    )
  }
  endAfter(timeouts?.turn, (limit) => new CriaError('timeout', `The turn did not end within ${limit} ms.`))
  endAfter(budget?.ms, timeExceeded)
  return () => over.abort()
}

/** Says in words why a signal was aborted. */
export function reasonOf(reason: unknown): string {
  if (reason instanceof Error && reason.message !== UNSAID) return reason.message
  return typeof reason === 'string' ? reason : 'Aborted by the caller.'
}

/** What an `AbortController` says that was given no reason. */
const UNSAID = 'This operation was aborted'
