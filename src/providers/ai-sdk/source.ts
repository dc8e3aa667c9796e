/** Converts the answer of an AI SDK model, streamed or whole, to our parts. Versions 2 to 4 are read leniently, since packages differ. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json.ts'
import type { FinishReason } from '../../core/model.ts'
import type { Answer } from '../answer/answer.ts'
import { mergeMetadata } from '../conversation/own-data.ts'
import { short } from '../errors/errors.ts'
import { ReportedError } from '../errors/reported.ts'
import { asObject, asString, asText, objectsIn, parseObject } from '../wire/json.ts'

/**
 * Makes one request to the model and adds its parts to `answer`; yields after each addition.
 * @param warn called for each setting that the package could not send.
 */
export async function* readSdkAnswer(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  warn: (message: string) => void,
  answer: Answer,
): AsyncGenerator<void, void, undefined> {
  /** Metadata of a text, collected while it is streamed. */
  const texts = new Map<string, JsonObject | undefined>()
  if (answer.isWhole) {
    const result = asObject(await model.doGenerate(options)) ?? {}
    answer.hasBegun = true
    reportWarnings(result, warn)
    noteResponse(answer, asObject(result['response']))
    for (const part of objectsIn(result['content'])) readPart(part, answer, texts)
    end(answer, result)
    return
  }
  const { stream } = await model.doStream(options)
  answer.hasBegun = true
  const reader = (stream as ReadableStream<JsonObject>).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const { type, error } = value
      if (type === 'finish') {
        end(answer, value)
        return
      }
      if (type === 'stream-start') reportWarnings(value, warn)
      else if (type !== 'error') readPart(value, answer, texts)
      else if (error !== undefined && error !== null) throw asError(error)
      yield
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

function readPart(part: JsonObject, answer: Answer, texts: Map<string, JsonObject | undefined>): void {
  const { type } = part
  const id = asText(part['id'])
  const metadata = asObject(part['providerMetadata'])
  const text = asString(part['delta']) ?? asString(part['text']) ?? ''
  const isOfProvider = part['providerExecuted'] === true
  switch (type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'text':
      texts.set(id, mergeMetadata(texts.get(id), metadata))
      answer.text(text)
      if (type === 'text-start' || type === 'text-delta') return
      answer.endText(texts.get(id))
      texts.delete(id)
      return
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning':
      answer.think(id, text, metadata)
      return type === 'reasoning' ? answer.endThinking(id) : undefined
    case 'reasoning-end':
      return answer.endThinking(id, metadata)
    case 'tool-input-start':
      return isOfProvider ? undefined : answer.startCall(id, id, asText(part['toolName']))
    case 'tool-input-delta':
      return answer.addInput(id, text)
    case 'tool-call':
      return isOfProvider ? keep(answer, part) : readCall(answer, part, metadata)
    case 'tool-result':
    case 'file':
    case 'reasoning-file':
      return keep(answer, part)
    case 'custom':
      // Anthropic's package reports the head of the message this way; it is not part of the answer.
      return part['kind'] === 'anthropic.message_start' ? undefined : keep(answer, part)
    case 'response-metadata':
      return noteResponse(answer, part)
    default:
  }
}

/** Reports each setting that the package could not send. */
function reportWarnings({ warnings }: JsonObject, warn: (message: string) => void): void {
  for (const warning of objectsIn(warnings)) {
    const { details, message, feature, setting } = warning
    warn(short([details, message, feature, setting].find((words) => typeof words === 'string') ?? ''))
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new ReportedError(asObject(error) ?? { message: String(error) })
}

function readCall(answer: Answer, part: JsonObject, metadata: JsonObject | undefined): void {
  const id = asText(part['toolCallId'])
  const input = part['input'] ?? part['args']
  if (answer.hasOpen(id)) answer.endCall(id, metadata, input)
  else answer.call(id, asText(part['toolName']), input, metadata)
}

const REASONS: ReadonlySet<unknown> = new Set<FinishReason>(['stop', 'length', 'tool-calls', 'content-filter', 'error', 'other'])

/** Reads the finish reason: an object in versions 3 and 4, a string in version 2. */
function end(answer: Answer, finish: JsonObject): void {
  const said = asObject(finish['finishReason'])
  const unified = said?.['unified'] ?? finish['finishReason']
  answer.usage(finish['usage'])
  if (unified === 'interrupted') return
  answer.rawReason = asString(said?.['raw'])
  answer.reason = REASONS.has(unified) ? (unified as FinishReason) : 'other'
}

function noteResponse(answer: Answer, metadata: JsonObject | undefined): void {
  answer.response(metadata?.['id'], metadata?.['modelId'])
}

/** Keeps the call or result of a tool that ran at the provider: later requests send it back unchanged, as a part of the prompt. */
function keep(answer: Answer, part: JsonObject): void {
  const { type, providerMetadata, result, input, ...rest } = part
  const sort = asString(type) ?? 'part'
  const kind = asString(part['kind']) ?? asString(part['toolName'])
  const sent = {
    type,
    ...rest,
    ...(input === undefined ? {} : { input: typeof input === 'string' ? (parseObject(input) ?? {}) : input }),
    ...(result === undefined ? {} : { output: { type: part['isError'] === true ? 'error-json' : 'json', value: result } }),
    ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
  }
  answer.opaque(kind === undefined ? sort : `${sort}:${kind}`, { part: plain(sent) })
}

/** Converts a value to plain JSON: bytes and URLs become strings. */
function plain(value: object): JsonObject {
  const text = JSON.stringify(value, (_, member: unknown) =>
    member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member,
  )
  return JSON.parse(text) as JsonObject
}
