/** Runs one request of an embedding or reranking model. */

import { orAborted } from '../util/promise.ts'
import type { ErrorContext } from './errors/errors.ts'

/** Runs a request until it ends or the caller's signal aborts. @throws the reason of an aborted signal; a CriaError for every other error. */
export async function requestOnce<T>(
  errors: ErrorContext,
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // `fetch` leaves its listener on the signal until garbage collection; the caller's signal may serve a thousand calls.
  const own = new AbortController()
  const onAbort = (): void => own.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    // Rejects on abort even if the model ignores its signal.
    return await orAborted(request(own.signal), own.signal)
  } catch (thrown) {
    if (signal?.aborted === true) throw signal.reason
    const { toProviderError } = await import('./errors/errors.ts')
    throw toProviderError(thrown, errors, 'request')
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
