/** Reads what an AI SDK model streams, or gives back in one piece, into our parts: versions 2 to 4, read loosely, since packages differ. */

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json.ts'
import type { FinishReason } from '../../core/model.ts'
import type { Answer } from '../answer/answer.ts'
import { mergeMetadata } from '../conversation/own-data.ts'
import { short } from '../errors/errors.ts'
import { ReportedError } from '../errors/reported.ts'
import type { AnswerSource } from '../api.ts'
import { asObject, asString, objectsIn, parseObject } from '../wire/json.ts'

/** @param warn notes what the package could not send as asked. */
export function sdkSource(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  isWhole: boolean,
  warn: (message: string) => void,
): AnswerSource {
  let reader: ReadableStreamDefaultReader<JsonObject> | undefined
  let hasBegun = false
  /** What was said of a text while it was streamed. */
  const texts = new Map<string, JsonObject | undefined>()

  async function whole(answer: Answer): Promise<boolean> {
    const result = asObject(await model.doGenerate(options)) ?? {}
    hasBegun = true
    warnOf(result['warnings'])
    noteResponse(answer, asObject(result['response']))
    for (const part of objectsIn(result['content'])) read(answer, part)
    end(answer, result)
    return false
  }

  function read(answer: Answer, part: JsonObject): void {
    const id = asString(part['id']) ?? ''
    const metadata = asObject(part['providerMetadata'])
    const text = asString(part['delta']) ?? asString(part['text']) ?? ''
    switch (part['type']) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'text':
        texts.set(id, mergeMetadata(texts.get(id), metadata))
        answer.text(text)
        if (part['type'] === 'text-start' || part['type'] === 'text-delta') return
        answer.endText(texts.get(id))
        texts.delete(id)
        return
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning':
        answer.think(id, text, metadata)
        return part['type'] === 'reasoning' ? answer.endThinking(id) : undefined
      case 'reasoning-end':
        return answer.endThinking(id, metadata)
      case 'tool-input-start':
        return part['providerExecuted'] === true ? undefined : answer.startCall(id, id, asString(part['toolName']) ?? '')
      case 'tool-input-delta':
        return answer.addInput(id, text)
      case 'tool-call':
        return part['providerExecuted'] === true ? keep(answer, part) : readCall(answer, part, metadata)
      case 'tool-result':
      case 'file':
      case 'reasoning-file':
        return keep(answer, part)
      case 'custom':
        // Anthropic's package reports the head of the message this way; it is not part of the answer.
        return part['kind'] === 'anthropic.message_start' ? undefined : keep(answer, part)
      case 'response-metadata':
        return noteResponse(answer, part)
      case 'stream-start':
        return warnOf(part['warnings'])
      default:
    }
  }

  /** What the package could not send as asked. */
  function warnOf(warnings: unknown): void {
    for (const warning of objectsIn(warnings)) {
      const said = ['details', 'message', 'feature', 'setting']
        .map((name) => asString(warning[name]))
        .find((words) => words !== undefined)
      warn(short(said ?? ''))
    }
  }

  return {
    async next(answer) {
      if (isWhole) return whole(answer)
      if (reader === undefined) {
        const { stream } = await model.doStream(options)
        hasBegun = true
        reader = (stream as ReadableStream<JsonObject>).getReader()
        return true
      }
      const { done, value } = await reader.read()
      if (done) return false
      if (value['type'] === 'error') {
        const { error } = value
        if (error !== undefined && error !== null) throw asError(error)
        return true
      }
      if (value['type'] !== 'finish') {
        read(answer, value)
        return true
      }
      end(answer, value)
      return false
    },
    isWhole: () => isWhole,
    hasBegun: () => hasBegun,
    close: () => void reader?.cancel().catch(() => {}),
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new ReportedError(asObject(error) ?? { message: String(error) })
}

function readCall(answer: Answer, part: JsonObject, metadata: JsonObject | undefined): void {
  const id = asString(part['toolCallId']) ?? ''
  const input = part['input'] ?? part['args']
  if (answer.hasOpen(id)) answer.endCall(id, metadata, input)
  else answer.call(id, asString(part['toolName']) ?? '', input, metadata)
}

const REASONS: ReadonlySet<unknown> = new Set<FinishReason>(['stop', 'length', 'tool-calls', 'content-filter', 'error', 'other'])

/** The finish of versions 3 and 4 is an object, that of version 2 a word. */
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

/** What ran at the provider goes back as it came, as a part of the prompt. */
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

/** What JSON makes of it: bytes and URLs become strings. */
function plain(value: object): JsonObject {
  const text = JSON.stringify(value, (_, member: unknown) =>
    member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member,
  )
  return JSON.parse(text) as JsonObject
}
