/** Builds a `LanguageModel` from the functions that open and read one request; runs one request of other models. */

import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { canonicalJson, nameOfObject, sha256 } from '../util/hash.ts'
import { orAborted } from '../util/promise.ts'
import type { ErrorContext } from './errors/errors.ts'
import type { AdapterOptions, Place } from './exchange.ts'

export function createAdapter(options: AdapterOptions): LanguageModel {
  let facts: ModelFacts | undefined
  let loaded: typeof import('./exchange.ts') | undefined
  const model: LanguageModel = {
    ref: options.ref,
    get facts() {
      return (facts ??= options.facts())
    },
    get identity() {
      const place = options.identity()
      return typeof place === 'string' ? place : identityOf(place)
    },
    stream(request, ctx) {
      if (loaded !== undefined) return loaded.exchange(options, model, request, ctx)
      return (async function* () {
        // Loaded with the first request: a fallback model that is never called does not need it.
        loaded = await import('./exchange.ts')
        yield* loaded.exchange(options, model, request, ctx)
      })()
    },
  }
  return model
}

/** Keys and headers cannot be read from the hash. */
function identityOf({ fetch: own, ...place }: Place): string {
  return sha256(canonicalJson({ ...place, fetch: typeof own === 'function' ? nameOfObject(own) : null }))
}

/** Runs a request of an embedding or reranking model until it ends or the caller's signal aborts. @throws the reason of an aborted signal; a CriaError for every other error. */
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
