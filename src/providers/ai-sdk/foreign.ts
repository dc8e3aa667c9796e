/** AI SDK language models that a user brings: version 4, and versions 3 and 2 where they differ in form only. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json.ts'
import type { LanguageModel } from '../../core/model.ts'
import { modelFacts } from '../facts.ts'
import { createAdapter } from './adapter.ts'
import { foreignIdentity } from './identity.ts'
import type { StyleName } from './style.ts'

/** What all versions have in common. */
export interface AiSdkModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** For example `openai.responses`. */
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<unknown>
}

export function isLanguageModel(value: unknown): value is AiSdkModel {
  if (typeof value !== 'object' || value === null) return false
  const { specificationVersion, doGenerate, doStream, modelId } = value as Partial<Record<keyof AiSdkModel, unknown>>
  return (
    typeof specificationVersion === 'string' &&
    typeof doGenerate === 'function' &&
    typeof doStream === 'function' &&
    typeof modelId === 'string'
  )
}

export function fromLanguageModel(model: AiSdkModel): LanguageModel {
  const provider = model.provider.split('.', 1)[0] ?? model.provider
  const adapted = inVersion4(model)
  return createAdapter({
    ref: `${provider}/${model.modelId}`,
    style: styleOf(model.provider),
    facts: () => modelFacts(provider, model.modelId),
    identity: () => foreignIdentity(model),
    errors: { provider, secrets: [] },
    open: () => Promise.resolve({ model: adapted }),
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

function inVersion4(model: AiSdkModel): LanguageModelV4 {
  const current = model as unknown as LanguageModelV4
  if (model.specificationVersion !== 'v2' && model.specificationVersion !== 'v3') return current
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: {},
    doGenerate: (options) => current.doGenerate(toOlder(options, model.specificationVersion)),
    doStream: (options) => current.doStream(toOlder(options, model.specificationVersion)),
  }
}

/** Files were `data` itself before version 4, and there was no setting for reasoning. */
function toOlder({ reasoning: _, prompt, ...options }: LanguageModelV4CallOptions, version: string): LanguageModelV4CallOptions {
  const older = prompt.map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map((part) => olderPart(part as unknown as JsonObject, version)) }
      : message,
  )
  return { ...options, prompt: older as LanguageModelV4CallOptions['prompt'] }
}

type FileData = { readonly type: 'data'; readonly data: string } | { readonly type: 'url'; readonly url: URL }

function olderPart(part: JsonObject, version: string): unknown {
  if (part['type'] === 'file') return { ...part, data: bare(part['data'] as unknown as FileData) }
  const output = part['output'] as unknown as { type: string; value: readonly JsonObject[] } | undefined
  if (part['type'] !== 'tool-result' || output?.type !== 'content') return part
  return {
    ...part,
    output: {
      type: 'content',
      value: output.value.map((value) => (value['type'] === 'file' ? olderResult(value, version) : value)),
    },
  }
}

function olderResult(value: JsonObject, version: string): unknown {
  const data = value['data'] as unknown as FileData
  if (data.type === 'url')
    return version === 'v3' ? { type: 'file-url', url: data.url.href } : { type: 'text', text: data.url.href }
  return { type: version === 'v3' ? 'file-data' : 'media', data: data.data, mediaType: value['mediaType'] }
}

function bare(data: FileData): unknown {
  return data.type === 'url' ? data.url : data.data
}
