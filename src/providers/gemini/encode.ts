/** Writes a request to the Gemini API. */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ThinkingEffort, ToolChoice } from '../../core/model.ts'
import type { EncodeInput, Encoded } from '../api.ts'
import { conversationOf, toolOf } from '../api.ts'
import { isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Result, Turn } from '../conversation/conversation.ts'
import { asArray, asObject, asString, defined } from '../wire/json.ts'

/** Tools that Google runs, by the name under which every API offers them. */
const PROVIDER_TOOLS: Readonly<Record<string, JsonObject>> = {
  web_search: { googleSearch: {} },
  web_fetch: { urlContext: {} },
  code_execution: { codeExecution: {} },
}

/** These stand among the settings of the generation, and not beside them. */
const GENERATION = new Set([
  'thinkingConfig',
  'responseModalities',
  'mediaResolution',
  'imageConfig',
  'speechConfig',
  'audioTimestamp',
])

export function encodeGemini(input: EncodeInput): Encoded {
  const { request, model, names, warn } = input
  const { temperature, maxOutputTokens, topP, topK, seed, stopSequences = [], toolChoice } = request
  const { tools: ran, thinkingConfig: ownThinking, ...options } = input.options
  const turns = conversationOf(input)
  const isThird = /gemini-[3-9]/.test(model)
  const declarations = (request.tools ?? [])
    .map((tool) => toolOf(tool, names))
    .map(({ schema, ...tool }) => ({ ...tool, parametersJsonSchema: schema }))
  const thinkingConfig = { ...thinkingOf(model, request.thinking, isThird), ...asObject(ownThinking) }
  const entries = Object.entries(options)
  const instructions = turns.flatMap((turn) => (turn.role === 'system' ? [{ text: turn.text }] : []))
  const tools = [
    ...(declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]),
    ...asArray(ran).map((tool) => (PROVIDER_TOOLS[String(tool)] ?? tool) as JsonObject),
  ]
  return {
    path: `/${model.includes('/') ? model : `models/${model}`}:${request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: defined<JsonObject>({
      generationConfig: defined<JsonObject>({
        maxOutputTokens,
        temperature,
        topK,
        topP,
        ...penaltiesOf(input),
        stopSequences: stopSequences.length === 0 ? undefined : stopSequences,
        seed,
        ...formatOf(input, declarations.length > 0 && !isThird),
        thinkingConfig: Object.keys(thinkingConfig).length === 0 ? undefined : thinkingConfig,
        ...Object.fromEntries(entries.filter(([name]) => GENERATION.has(name))),
      }),
      contents: turns.flatMap((turn) => toContents(turn, isThird)),
      systemInstruction: instructions.length === 0 ? undefined : { parts: instructions },
      tools: tools.length === 0 ? undefined : tools,
      toolConfig:
        declarations.length === 0 || toolChoice === undefined
          ? undefined
          : { functionCallingConfig: toChoice(toolChoice, input) },
      ...Object.fromEntries(entries.filter(([name]) => !GENERATION.has(name))),
    }),
  }

  function formatOf({ request: { responseFormat } }: EncodeInput, isRefused: boolean): JsonObject {
    if (responseFormat === undefined) return {}
    if (isRefused) {
      warn(`${model} does not take a format of the answer beside tools.`)
      return {}
    }
    const { schema } = responseFormat
    return { responseMimeType: 'application/json', ...(schema === undefined ? {} : { responseJsonSchema: schema }) }
  }
}

function penaltiesOf({ model, request: { frequencyPenalty, presencePenalty }, warn }: EncodeInput): JsonObject {
  const isRefused = /gemini-2\.5/.test(model)
  if (isRefused && (frequencyPenalty ?? presencePenalty) !== undefined) warn(`${model} does not take penalties.`)
  return isRefused ? {} : { frequencyPenalty, presencePenalty }
}

/** Parts of what the model can write at most, 65,536 tokens. */
const BUDGETS: Readonly<Record<Exclude<ThinkingEffort, 'off'>, number>> = { low: 6554, medium: 19_661, high: 32_768 }

function thinkingOf(model: string, effort: ThinkingEffort | undefined, isThird: boolean): JsonObject {
  if (effort === undefined) return {}
  const isPro = /pro/.test(model)
  if (effort === 'off') return isThird ? { thinkingLevel: isPro ? 'low' : 'minimal' } : { thinkingBudget: isPro ? 128 : 0 }
  const most = isPro ? BUDGETS.high : 24_576
  return { includeThoughts: true, ...(isThird ? { thinkingLevel: effort } : { thinkingBudget: Math.min(BUDGETS[effort], most) }) }
}

function toChoice(choice: ToolChoice, { names }: EncodeInput): JsonObject {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [names.out(choice.tool)] }
  return { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() }
}

function toContents(turn: Turn, isThird: boolean): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', parts: turn.parts.map((part) => (part.type === 'text' ? { text: part.text } : toFile(part))) }]
    case 'assistant': {
      const parts = turn.parts.flatMap(toAnswerPart)
      return parts.length === 0 ? [] : [{ role: 'model', parts: isThird ? withSignature(parts) : parts }]
    }
    default:
      return [{ role: 'user', parts: turn.results.flatMap((result) => toResponse(result, isThird)) }]
  }
}

function toAnswerPart(part: AnswerPart): JsonObject[] {
  const thoughtSignature = 'own' in part ? asString(part.own?.['google']?.['thoughtSignature']) : undefined
  const signature = thoughtSignature === undefined ? {} : { thoughtSignature }
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...signature }]
    case 'thinking':
      return [{ text: part.text, thought: true, ...signature }]
    case 'tool-call':
      return [{ functionCall: { id: part.id, name: part.name, args: part.input }, ...signature }]
    case 'opaque': {
      const block = asObject(part.own['block'])
      return block === undefined ? [] : [block]
    }
    default:
      return [toFile(part)]
  }
}

/** From its third generation on Gemini refuses calls that were not signed, as those of another model are, unless it is told so. */
function withSignature(parts: readonly JsonObject[]): JsonObject[] {
  const first = parts.findIndex((part) => part['functionCall'] !== undefined)
  return parts.map((part, index) =>
    index === first && part['thoughtSignature'] === undefined
      ? { ...part, thoughtSignature: 'skip_thought_signature_validator' }
      : part,
  )
}

/** Images and files stand in the response, or beside it for older models. */
function toResponse({ id, name, text, isError, attachments }: Result, isThird: boolean): JsonObject[] {
  const files = attachments.map(toFile)
  const response: Json = { name, ...(isError ? { error: text } : { content: text }) }
  if (isThird || files.length === 0)
    return [{ functionResponse: { id, name, response, ...(files.length === 0 ? {} : { parts: files }) } }]
  return [{ functionResponse: { id, name, response } }, ...files]
}

function toFile({ mediaType, data }: Attachment): JsonObject {
  return isUrl(data) ? { fileData: { mimeType: mediaType, fileUri: data } } : { inlineData: { mimeType: mediaType, data } }
}
