/** Makes a `LanguageModel` of a way to ask one. */

import type { LanguageModel, ModelFacts, ModelRequest } from '../core/model.ts'
import type { Answer } from './answer/answer.ts'
import type { ReadUsage } from './answer/usage.ts'
import type { ToolNames } from './conversation/names.ts'
import type { ErrorContext } from './errors/errors.ts'

export interface AdapterOptions {
  /** `provider/model`. */
  readonly ref: string
  readonly facts: () => ModelFacts
  /** See `LanguageModel`; read with each request, since keys and base URLs may change in the environment. */
  readonly identity: () => string
  readonly errors: Omit<ErrorContext, 'ref'>
  /** Splits `<think>…</think>` at the beginning of a text into thinking. Default: text stays text. */
  readonly thinkTags?: boolean | undefined
  /** Loads what is needed on first use. @throws CriaError when something is missing, or cannot be sent. */
  readonly open: (input: OpenInput) => Promise<Opened>
}

export interface OpenInput {
  readonly model: LanguageModel
  readonly request: ModelRequest
  readonly names: ToolNames
  readonly signal: AbortSignal
  /** Notes on the span what cannot be sent as asked. */
  readonly warn: (message: string) => void
}

export interface Opened {
  /**
   * Makes the request and adds what comes to the answer; yields when something was added, and closes the connection when it is over or left.
   * @throws what went wrong, after all that came before it was added.
   */
  readonly read: (answer: Answer) => AsyncGenerator<void, void, undefined>
  readonly readUsage: ReadUsage
}

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
        // A fallback that is never asked does not need what speaks to a provider.
        loaded = await import('./exchange.ts')
        yield* loaded.exchange(options, model, request, ctx)
      })()
    },
  }
  return model
}
