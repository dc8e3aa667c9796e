/** The one adapter between our port to models and the AI SDK's: any AI SDK language model becomes one of ours. */

import type { LanguageModel, ModelFacts } from '../../core/model.ts'
import { UNKNOWN_FACTS } from '../../core/model.ts'
import type { AdapterOptions } from './exchange.ts'

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
      if (loaded !== undefined) return loaded.exchange(options, model, request, ctx)
      return (async function* () {
        // What speaks to a provider is large, and a model that only stands by does not need it.
        loaded = await import('./exchange.ts')
        yield* loaded.exchange(options, model, request, ctx)
      })()
    },
  }
  return model
}
