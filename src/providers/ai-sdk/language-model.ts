/** Adapts AI SDK language models of specification versions 2, 3 and 4. */

import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { LanguageModel } from '../../core/model.ts'
import { createAdapter } from '../adapter.ts'
import { STYLES } from '../conversation/style.ts'
import type { StyleName } from '../conversation/style.ts'
import { modelFacts } from '../facts.ts'
import { foreignIdentity, isSdkModel, sdkNames } from '../identity.ts'

/** The members that all versions have in common. */
export interface AiSdkModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** For example `openai.responses`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly modelId: string
  /** Makes one request without streaming. */
  doGenerate(options: never): PromiseLike<unknown>
  /** Makes one request that streams. */
  doStream(options: never): PromiseLike<unknown>
}

export function isAiSdkModel(value: unknown): value is AiSdkModel {
  return isSdkModel(value, 'doGenerate') && isSdkModel(value, 'doStream')
}

/** Adapts an AI SDK language model of specification version 2 or later to `LanguageModel`. */
export function fromAiSdkModel(given: AiSdkModel): LanguageModel {
  const { provider, ref } = sdkNames(given)
  const style = STYLES[styleOf(given.provider)]
  return createAdapter({
    ref,
    facts: () => modelFacts(provider, given.modelId),
    identity: () => foreignIdentity(given),
    errors: { provider, secrets: [] },
    async open({ request, names, signal, warn }) {
      const [{ toCallOptions }, { readSdkAnswer }, { readSdkUsage }] = await Promise.all([
        import('./request.ts'),
        import('./source.ts'),
        import('../answer/usage.ts'),
      ])
      const sent = toCallOptions(request, { ref, style, names }, given.specificationVersion, signal)
      return {
        read(answer) {
          answer.isWhole = !request.stream
          return readSdkAnswer(given as unknown as LanguageModelV4, sent, warn, answer)
        },
        readUsage: readSdkUsage,
      }
    },
  })
}

const STYLE_OF: readonly (readonly [RegExp, StyleName])[] = [
  [/^(openai|azure)\.(responses)/, 'responses'],
  [/^(openai|azure)\.(chat)/, 'chat'],
  [/anthropic/, 'messages'],
  [/^(google|vertex)/, 'gemini'],
  [/\.chat$/, 'compatible'],
]

function styleOf(provider: string): StyleName {
  return STYLE_OF.find(([pattern]) => pattern.test(provider))?.[1] ?? 'unknown'
}
