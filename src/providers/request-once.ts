/** Runs one request for vectors or a ranking. */

import { orAborted } from '../util/promise.ts'
import type { ErrorContext } from './errors/errors.ts'

/** Ends the request with the caller's signal. @throws the reason of the signal once it is aborted; a CriaError for everything else. */
export async function requestOnce<T>(
  errors: ErrorContext,
  signal: AbortSignal | undefined,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // `fetch` leaves its listener on the signal until it is collected; the caller's signal may serve a thousand calls.
  const own = new AbortController()
  const onAbort = (): void => own.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    // A model that does not listen to its signal is not waited for.
    return await orAborted(request(own.signal), own.signal)
  } catch (thrown) {
    if (signal?.aborted === true) throw signal.reason
    const { toProviderError } = await import('./errors/errors.ts')
    throw toProviderError(thrown, errors, 'request')
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
