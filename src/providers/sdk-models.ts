/** Runs one request for vectors or a ranking, and recognises AI SDK models. */

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

/** What is read of any AI SDK model, of versions 2 to 4. */
interface SdkModel {
  readonly provider: string
  readonly modelId: string
}

/** Tells whether a value is an AI SDK model. @param method that makes its request: `doEmbed`. */
export function isSdkModel(value: unknown, method: string): value is SdkModel {
  const { provider, modelId, specificationVersion: version, [method]: request } = Object(value) as Record<string, unknown>
  return [provider, modelId, version].every((member) => typeof member === 'string') && typeof request === 'function'
}

/** The provider is named with the kind of the model: `openai.embedding`. */
export function sdkNames({ provider: named, modelId }: SdkModel): { readonly provider: string; readonly ref: string } {
  const provider = named.split('.', 1)[0] ?? named
  return { provider, ref: `${provider}/${modelId}` }
}
