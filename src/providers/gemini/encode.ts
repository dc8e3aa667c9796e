/** Encodes requests for Google's Gemini API. https://ai.google.dev/api/generate-content */

import type { JsonObject } from '../../core/json.ts'
import type { ThinkingEffort } from '../../core/model.ts'
import type { EncodeInput, Encoded } from '../api.ts'
import { isUrl } from '../conversation/conversation.ts'
import type { AnswerPart, Attachment, Result, Turn } from '../conversation/conversation.ts'
import { nonEmpty, ranByProvider } from '../prepare.ts'
import { asObject, asString, objectsIn } from '../wire/json.ts'
import { defined } from '../../util/check.ts'

/** Tools that Google runs. */
const PROVIDER_TOOLS: Readonly<Record<string, JsonObject>> = {
  web_search: { googleSearch: {} },
  web_fetch: { urlContext: {} },
  code_execution: { codeExecution: {} },
}

/** Options that belong into `generationConfig`, not beside it. */
const GENERATION = /^(?:thinkingConfig|responseModalities|mediaResolution|imageConfig|speechConfig|audioTimestamp)$/

export function encode(input: EncodeInput): Encoded {
  const { request, model, turns } = input
  const { temperature, maxOutputTokens, topP, topK, seed } = request
  const { tools: ran, thinkingConfig: ownThinking, ...options } = input.options
  const isThird = /gemini-[3-9]/.test(model)
  const declarations = nonEmpty(input.tools.map(({ schema, ...tool }) => ({ ...tool, parametersJsonSchema: schema })))
  const thinkingConfig = { ...thinkingOf(model, request.thinking, isThird), ...asObject(ownThinking) }
  const entries = Object.entries(options)
  const parts = nonEmpty(turns.flatMap((turn) => (turn.role === 'system' ? [{ text: turn.text }] : [])))
  return {
    path: `/${model.includes('/') ? model : `models/${model}`}:${request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: defined<JsonObject>({
      generationConfig: defined<JsonObject>({
        maxOutputTokens,
        temperature,
        topK,
        topP,
        ...penaltiesOf(input),
        stopSequences: nonEmpty(request.stopSequences),
        seed,
        ...formatOf(input, declarations !== undefined && !isThird),
        thinkingConfig: Object.keys(thinkingConfig).length === 0 ? undefined : thinkingConfig,
        ...Object.fromEntries(entries.filter(([name]) => GENERATION.test(name))),
      }),
      contents: turns.flatMap((turn) => toContents(turn, isThird)),
      systemInstruction: parts && { parts },
      tools: nonEmpty([
        ...(declarations === undefined ? [] : [{ functionDeclarations: declarations }]),
        ...ranByProvider(ran, PROVIDER_TOOLS),
      ]),
      toolConfig: declarations && choiceOf(input),
      ...Object.fromEntries(entries.filter(([name]) => !GENERATION.test(name))),
    }),
  }
}

function formatOf({ model, request: { responseFormat }, warn }: EncodeInput, isRefused: boolean): JsonObject {
  if (responseFormat === undefined) return {}
  if (!isRefused) return { responseMimeType: 'application/json', responseJsonSchema: responseFormat.schema }
  warn(`${model} does not take a response format together with tools.`)
  return {}
}

function penaltiesOf({ model, request: { frequencyPenalty, presencePenalty }, warn }: EncodeInput): JsonObject {
  if (!/gemini-2\.5/.test(model)) return { frequencyPenalty, presencePenalty }
  if ((frequencyPenalty ?? presencePenalty) !== undefined) warn(`${model} does not take penalties.`)
  return {}
}

/** Thinking budgets in tokens: 10, 30 and 50 % of the output limit of 65,536. */
const BUDGETS: Readonly<Record<Exclude<ThinkingEffort, 'off'>, number>> = { low: 6554, medium: 19_661, high: 32_768 }

function thinkingOf(model: string, effort: ThinkingEffort | undefined, isThird: boolean): JsonObject {
  if (effort === undefined) return {}
  const isPro = /pro/.test(model)
  if (effort === 'off') return isThird ? { thinkingLevel: isPro ? 'low' : 'minimal' } : { thinkingBudget: isPro ? 128 : 0 }
  const most = isPro ? BUDGETS.high : 24_576
  return { includeThoughts: true, ...(isThird ? { thinkingLevel: effort } : { thinkingBudget: Math.min(BUDGETS[effort], most) }) }
}

function choiceOf({ request: { toolChoice }, names }: EncodeInput): JsonObject | undefined {
  if (toolChoice === undefined) return undefined
  if (typeof toolChoice === 'object')
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [names.out(toolChoice.tool)] } }
  return { functionCallingConfig: { mode: toolChoice === 'required' ? 'ANY' : toolChoice.toUpperCase() } }
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
  const signature = defined<JsonObject>({ thoughtSignature })
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...signature }]
    case 'thinking':
      return [{ text: part.text, thought: true, ...signature }]
    case 'tool-call':
      return [{ functionCall: { id: part.id, name: part.name, args: part.input }, ...signature }]
    case 'opaque':
      return objectsIn([part.own['block']])
    default:
      return [toFile(part)]
  }
}

/** Marks the first call as unsigned if another model made it: Gemini refuses unsigned calls from version 3 on. */
function withSignature(parts: readonly JsonObject[]): JsonObject[] {
  const first = parts.findIndex((part) => part['functionCall'] !== undefined)
  return parts.map((part, index) =>
    index === first && part['thoughtSignature'] === undefined
      ? { ...part, thoughtSignature: 'skip_thought_signature_validator' }
      : part,
  )
}

/** Puts images and files into the function response, or beside it for models before version 3. */
function toResponse({ id, name, text, isError, attachments }: Result, isThird: boolean): JsonObject[] {
  const files = attachments.map(toFile)
  const response = { name, [isError ? 'error' : 'content']: text }
  const parts = isThird ? nonEmpty(files) : undefined
  return [{ functionResponse: defined<JsonObject>({ id, name, response, parts }) }, ...(isThird ? [] : files)]
}

function toFile({ mediaType, data }: Attachment): JsonObject {
  return isUrl(data) ? { fileData: { mimeType: mediaType, fileUri: data } } : { inlineData: { mimeType: mediaType, data } }
}
