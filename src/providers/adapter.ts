/** Builds a `LanguageModel` from the functions that open and read one request. */

import type { LanguageModel, ModelFacts } from '../core/model.ts'
import type { AdapterOptions } from './exchange.ts'

export function createAdapter(options: AdapterOptions): LanguageModel {
  let facts: ModelFacts | undefined
  let loaded: typeof import('./exchange.ts') | undefined
  const model: LanguageModel = {
    ref: options.ref,
    get facts() {
      return (facts ??= options.facts())
    },
    get identity() {
      return options.identity()
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
