/** The public `query()`: resolves names of models, then calls the engine's, which knows only ports. */

import { ConfigurationError } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import type { ContextOptions } from '../engine/context-options.ts'
import { checkObject, checkOptions } from '../engine/options.ts'
import type { EngineOptions } from '../engine/options.ts'
import { query as engineQuery } from '../engine/query.ts'
import { currentSpan } from '../engine/span.ts'
import { ResponseCache } from '../model/response-cache.ts'
import { resolveContext } from './context/sources.ts'
import { madeOf, sharedCoolDowns } from './cool-downs.ts'
import type { ModelInput } from './models.ts'
import { defaultModel, resolveModel } from './user-models.ts'

/** Options of `query()`; see `EngineOptions` for those that are not about the choice of a model. */
export interface QueryOptions extends Omit<EngineOptions, 'model' | 'fallbackModels' | 'cache' | 'coolDowns' | 'context'> {
  /** Default: what `cria models` shows as the default. */
  readonly model?: ModelInput
  readonly fallbackModels?: readonly ModelInput[]
  /** What goes into the request beside what is said, and what leaves it when it grows too long; default nothing is put in. */
  readonly context?: ContextOptions
  /**
   * Answers that were given before to an equal request: `true` for the one cache of this process (100 answers, 5 minutes), or one of your own.
   * Default false.
   */
  readonly cache?: boolean | ResponseCache
}

/**
 * Answers a question and streams everything that happens on the way, as typed events. The last one is `complete`, `cancelled` or
 * `error`; the generator's return value is the result of a complete turn. Leaving it early cancels the turn.
 *
 * @throws ConfigurationError at once when the options are wrong; nothing is thrown after the first event.
 */
export function query(options: QueryOptions): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  checkObject('query()', options)
  const span = options.span ?? currentSpan()
  const { fallbackModels: named = [] } = options
  if (!Array.isArray(named)) throw new ConfigurationError('`fallbackModels` must be a list of models.')
  const fallbackModels = named.map(resolved)
  const { cache: wanted, context: around, ...rest } = options
  const cache = wanted === true ? sharedCache() : wanted === false ? undefined : wanted
  const known = {
    ...rest,
    fallbackModels,
    coolDowns: sharedCoolDowns(),
    ...(span === undefined ? {} : { span }),
    ...(cache === undefined ? {} : { cache }),
    ...(around === undefined ? {} : { context: resolveContext(around) }),
  }
  if (options.model !== undefined) return engineQuery({ ...known, model: resolved(options.model) })
  checkOptions({ ...known, model: NOT_YET_KNOWN })
  return withDefaultModel(known)
}

function resolved(input: ModelInput): LanguageModel {
  return madeOf(input, resolveModel(input))
}

async function* withDefaultModel(
  options: Omit<EngineOptions, 'model'>,
): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  return yield* engineQuery({ ...options, model: await defaultModel() })
}

let shared: ResponseCache | undefined

function sharedCache(): ResponseCache {
  shared ??= new ResponseCache()
  return shared
}

/** Stands in for the default model while the other options are checked. */
const NOT_YET_KNOWN: EngineOptions['model'] = {
  ref: 'default',
  facts: { contextWindow: null, maxOutputTokens: null, price: { input: 0, output: 0 } },
  stream: () => {
    throw new TypeError('The default model is not known yet.')
  },
}
