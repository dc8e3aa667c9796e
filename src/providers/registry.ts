/** The providers: where they are, how their keys are called, which package speaks to them. */

import type { EmbeddingModelV4, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { EmbeddingPurpose } from '../core/embedding.ts'
import type { JsonObject } from '../core/json.ts'
import type { ModelFacts } from '../core/model.ts'
import type { StyleName } from './ai-sdk/style.ts'
import { normalizeBaseUrl, ollamaBaseUrl } from './base-url.ts'
import type { CreateDialect } from './wire/dialect.ts'

/** What a package is given for one call. */
export interface PackageSettings {
  readonly model: string
  readonly baseURL: string
  readonly apiKey: string
  readonly headers: Record<string, string>
  readonly fetch: typeof fetch
}

export interface ProviderDefinition {
  /** Environment variable that holds the key. */
  readonly keyVariable: string | undefined
  /** Environment variable that moves it elsewhere. */
  readonly urlVariable: string
  /** Where it is when nobody says otherwise; `undefined`: somebody has to. */
  readonly home: string | undefined
  /** @throws ConfigurationError */
  readonly normalize: (url: string, source: string) => string
  readonly style: StyleName
  /** Loaded on first use, as the package is. */
  readonly dialect: () => Promise<CreateDialect>
  /** What its package is told unless the caller says otherwise, under the name by which it looks for it. */
  readonly providerOptions: Readonly<Record<string, JsonObject>>
  readonly load: () => Promise<
    (settings: PackageSettings, options: LanguageModelV4CallOptions) => LanguageModelV4 | Promise<LanguageModelV4>
  >
  /** What holds for all of its models. */
  readonly facts?: Partial<ModelFacts>
  /** Absent where the provider has no embeddings. */
  readonly embedding?: EmbeddingDefinition
}

export interface EmbeddingDefinition {
  /** Texts in one request at most, where the provider says so. */
  readonly maxBatch?: number
  /** What the package is told beside the texts, by what they are for. */
  readonly options?: (purpose: EmbeddingPurpose) => Readonly<Record<string, JsonObject>>
  readonly load: () => Promise<(settings: PackageSettings) => EmbeddingModelV4>
}

/** Answers are not kept at the provider, so a conversation can be taken to another; what it needs to go on travels with the messages. */
const STATELESS = { openai: { store: false } }

export const PROVIDER_DEFINITIONS: Readonly<Record<string, ProviderDefinition>> = {
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    urlVariable: 'OPENAI_BASE_URL',
    home: 'https://api.openai.com/v1',
    normalize: (url, source) => normalizeBaseUrl(url, source),
    style: 'responses',
    dialect: async () => (await import('./ai-sdk/gaps/responses.ts')).responsesDialect,
    providerOptions: STATELESS,
    load: async () => {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return ({ model, ...settings }) => createOpenAI(settings).responses(model)
    },
    embedding: {
      maxBatch: 2048,
      load: async () => {
        const { createOpenAI } = await import('@ai-sdk/openai')
        return ({ model, ...settings }) => createOpenAI(settings).embeddingModel(model)
      },
    },
  },
  'openai-chat': {
    keyVariable: 'OPENAI_API_KEY',
    urlVariable: 'OPENAI_BASE_URL',
    home: 'https://api.openai.com/v1',
    normalize: (url, source) => normalizeBaseUrl(url, source),
    style: 'chat',
    dialect: async () => (await import('./ai-sdk/gaps/chat.ts')).chatDialect,
    providerOptions: { openai: {} },
    // OpenAI's package knows what OpenAI's models take; the other one understands more of what comes back.
    load: async () => {
      const [{ createOpenAI }, { createOpenAICompatible }, { openaiChatBody }] = await Promise.all([
        import('@ai-sdk/openai'),
        import('@ai-sdk/openai-compatible'),
        import('./ai-sdk/openai-chat-body.ts'),
      ])
      return async ({ model, ...settings }, options) => {
        const body = await openaiChatBody((capture) => createOpenAI({ ...settings, fetch: capture }).chat(model), options)
        return createOpenAICompatible({
          ...settings,
          name: 'openai',
          includeUsage: true,
          transformRequestBody: (args: Record<string, unknown>) => ({
            ...body,
            stream: args['stream'],
            stream_options: args['stream_options'],
          }),
        }).chatModel(model)
      }
    },
  },
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
    home: 'https://api.anthropic.com/v1',
    normalize: (url, source) => normalizeBaseUrl(url, source, 'v1'),
    style: 'messages',
    dialect: async () => (await import('./ai-sdk/gaps/messages.ts')).messagesDialect,
    providerOptions: {},
    load: async () => {
      const [{ createAnthropic }, { thinkWithin }] = await Promise.all([
        import('@ai-sdk/anthropic'),
        import('./ai-sdk/think-within.ts'),
      ])
      return ({ model, ...settings }, { maxOutputTokens }) =>
        createAnthropic({ ...settings, fetch: thinkWithin(maxOutputTokens, settings.fetch) }).languageModel(model)
    },
  },
  google: {
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    urlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    home: 'https://generativelanguage.googleapis.com/v1beta',
    normalize: (url, source) => normalizeBaseUrl(url, source, 'v1beta'),
    style: 'gemini',
    dialect: async () => (await import('./ai-sdk/gaps/gemini.ts')).geminiDialect,
    providerOptions: {},
    load: async () => {
      const { createGoogle } = await import('@ai-sdk/google')
      return ({ model, ...settings }) => createGoogle(settings).languageModel(model)
    },
    embedding: {
      maxBatch: 100,
      options: (purpose) => ({ google: { taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT' } }),
      load: async () => {
        const { createGoogle } = await import('@ai-sdk/google')
        return ({ model, ...settings }) => createGoogle(settings).embeddingModel(model)
      },
    },
  },
  ollama: compatible({
    name: 'ollama',
    keyVariable: undefined,
    urlVariable: 'OLLAMA_HOST',
    home: ollamaBaseUrl(undefined),
    normalize: (url) => ollamaBaseUrl(url),
    facts: { cutsSilently: true },
  }),
  'openai-compatible': compatible({
    name: 'openaiCompatible',
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    urlVariable: 'OPENAI_COMPATIBLE_BASE_URL',
    home: undefined,
    normalize: (url, source) => normalizeBaseUrl(url, source),
  }),
}

/** Whatever speaks Chat Completions. */
function compatible({
  name,
  ...place
}: Pick<ProviderDefinition, 'keyVariable' | 'urlVariable' | 'home' | 'normalize' | 'facts'> & {
  readonly name: string
}): ProviderDefinition {
  return {
    ...place,
    style: 'compatible',
    dialect: async () => (await import('./ai-sdk/gaps/chat.ts')).chatDialect,
    providerOptions: { [name]: {} },
    load: async () => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return ({ model, ...settings }) =>
        createOpenAICompatible({ ...settings, name, includeUsage: true, supportsStructuredOutputs: true }).chatModel(model)
    },
    embedding: {
      load: async () => {
        const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
        return ({ model, ...settings }) => createOpenAICompatible({ ...settings, name }).embeddingModel(model)
      },
    },
  }
}
