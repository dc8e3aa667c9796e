/** Makes a model of ours of a way to ask one. */

import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { UNKNOWN_FACTS } from '../core/model.ts'
import type { Exchange } from './exchange.ts'

export interface AdapterOptions {
  /** `provider/model`. */
  readonly ref: string
  readonly facts?: () => ModelFacts
  /** See `LanguageModel`; asked with each request, since keys and base URLs may change in the environment. */
  readonly identity: () => string
  readonly exchange: Exchange
}

export function createAdapter(options: AdapterOptions): LanguageModel {
  let facts: ModelFacts | undefined
  let loaded: typeof import('./exchange.ts') | undefined
  const model: LanguageModel = {
    ref: options.ref,
    get facts() {
      return (facts ??= options.facts?.() ?? UNKNOWN_FACTS)
    },
    get identity() {
      return options.identity()
    },
    stream(request, ctx) {
      if (loaded !== undefined) return loaded.exchange(options.exchange, model, request, ctx)
      return (async function* () {
        // A model that only stands by does not need what speaks to a provider.
        loaded = await import('./exchange.ts')
        yield* loaded.exchange(options.exchange, model, request, ctx)
      })()
    },
  }
  return model
}
