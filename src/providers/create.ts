/** Creates language models from names like `openai/gpt-5-mini`. */

import type { JsonObject } from '../core/json.ts'
import type { LanguageModel, ModelFacts } from '../core/model.ts'
import { createAdapter } from './adapter.ts'
import type { Api, ApiName } from './api.ts'
import { checkKey, keyOf, post, targetOf } from './connection.ts'
import type { ConnectionOptions } from './connection.ts'
import { knownModels, modelFacts } from './facts.ts'
import { splitRef } from './registry.ts'
import { asObject } from './wire/json.ts'

/** The codecs, loaded on first use: a fallback model may never need its codec. */
export const APIS: Readonly<Record<ApiName, () => Promise<Api>>> = {
  chat: () => codec(import('./chat/encode.ts'), import('./chat/decode.ts')),
  responses: () => codec(import('./responses/encode.ts'), import('./responses/decode.ts')),
  messages: () => codec(import('./messages/encode.ts'), import('./messages/decode.ts')),
  gemini: () => codec(import('./gemini/encode.ts'), import('./gemini/decode.ts')),
}

async function codec(encoder: Promise<Pick<Api, 'encode'>>, decoder: Promise<Omit<Api, 'encode'>>): Promise<Api> {
  return { ...(await encoder), ...(await decoder) }
}

export interface ProviderOptions extends ConnectionOptions {
  /** Facts that override those of the catalogue. */
  readonly facts?: Partial<ModelFacts>
  /** Splits `<think>…</think>` at the beginning of an answer into thinking. Default: text stays text. */
  readonly thinkTags?: boolean
  /** Largest event of a stream, in characters. Default 32 Mi. */
  readonly maxEventBytes?: number
  /** Longest stream, in bytes. Default 256 MB. A longer stream ends in an error; the parts received before it are kept. */
  readonly maxAnswerBytes?: number
}

/**
 * Creates the model with this name. Loads and sends nothing before its first request, which also reports a missing key: a fallback model that is
 * never called needs no key.
 *
 * @param ref `provider/model`; the model's own name may contain slashes.
 * @throws ConfigurationError when the provider, or its base URL, is not known.
 */
export function createProviderModel(ref: string, options: ProviderOptions = {}): LanguageModel {
  const { provider, name: model } = splitRef(ref, 'A model', 'openai/gpt-5-mini')
  const target = targetOf(provider, options)
  const { definition, baseURL } = target

  return createAdapter({
    ref,
    facts: () => ({ ...modelFacts(provider, model, baseURL), ...definition.facts, ...options.facts }),
    identity: () => ({
      baseURL,
      key: keyOf(definition, options),
      headers: options.headers,
      fetch: options.fetch,
      // These settings change requests and answers.
      settings: { thinkTags: options.thinkTags, facts: options.facts },
    }),
    errors: Object.assign(target, { knownModels: () => knownModels(provider, baseURL) }),
    thinkTags: options.thinkTags,
    async open({ model: { facts }, request, names, signal, warn }) {
      checkKey(provider, target.options)
      const [{ prepareRequest }, { readAnswer }, api] = await Promise.all([
        import('./prepare.ts'),
        import('./wire/read-answer.ts'),
        APIS[definition.api](),
      ])
      const { style, optionNames = [] } = definition
      // Options under the provider's own name win.
      const given = [...optionNames, provider].map((name) => asObject(request.providerOptions?.[name]))
      const own = Object.assign({}, ...given) as JsonObject
      const encoded = api.encode(prepareRequest({ model, ref, facts, request, style, names, options: own, warn }))
      const { maxEventBytes, maxAnswerBytes } = options
      const wire = { api, peer: target, request: () => post(target, encoded, signal), maxEventBytes, maxAnswerBytes }
      return { read: (answer) => readAnswer(wire, answer), readUsage: api.readUsage }
    },
  })
}
