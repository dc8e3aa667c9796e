/** A request as the AI SDK's call options. */

import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../core/json.ts'
import type { ModelRequest, ThinkingEffort, ToolChoice, ToolSpec } from '../../core/model.ts'
import type { JsonSchema } from '../../core/schema.ts'
import { asObject } from '../wire/dialect.ts'
import { givenCacheControl, withCacheMarks } from './cache-marks.ts'
import type { PromptContext } from './prompt.ts'
import { toPrompt } from './prompt.ts'
import type { ToolNames } from './tool-names.ts'
import { wellFormed } from './well-formed.ts'

export interface RequestContext extends PromptContext {
  readonly signal: AbortSignal
  /** Under which names the package looks for options, with what it is given unless the caller says otherwise. */
  readonly providerOptions: Readonly<Record<string, JsonObject>>
}

const EFFORTS = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const satisfies Record<ThinkingEffort, string>

export function toCallOptions(request: ModelRequest, context: RequestContext): LanguageModelV4CallOptions {
  const { temperature, maxOutputTokens, topP, topK, presencePenalty, frequencyPenalty, stopSequences, seed } = request
  const tools = request.tools ?? []
  const sent = {
    prompt: toPrompt(request.messages, context),
    tools: tools.length === 0 ? undefined : tools.map((tool) => toTool(tool, context.names)),
  }
  const isMarked = context.style.cache === 'marked' && givenCacheControl(request) === undefined
  return defined({
    ...(isMarked ? withCacheMarks(sent) : sent),
    temperature,
    maxOutputTokens,
    topP,
    topK,
    presencePenalty,
    frequencyPenalty,
    stopSequences: stopSequences === undefined || stopSequences.length === 0 ? undefined : [...stopSequences],
    seed,
    toolChoice: tools.length === 0 || request.toolChoice === undefined ? undefined : toChoice(request.toolChoice, context.names),
    responseFormat: toFormat(request),
    reasoning: request.thinking === undefined ? undefined : EFFORTS[request.thinking],
    providerOptions: toProviderOptions(request, context.providerOptions),
    abortSignal: context.signal,
  })
}

function toFormat({ responseFormat }: ModelRequest): LanguageModelV4CallOptions['responseFormat'] {
  if (responseFormat === undefined) return undefined
  const { schema, name } = responseFormat
  return {
    type: 'json',
    ...(schema === undefined ? {} : { schema }),
    ...(name === undefined ? {} : { name }),
  }
}

function toTool({ name, description, inputSchema }: ToolSpec, names: ToolNames): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: names.out(name),
    description: wellFormed(description),
    inputSchema: toObjectSchema(inputSchema),
  }
}

/** Providers refuse a schema that does not say it is of an object, and OpenAI one without properties. */
function toObjectSchema(schema: JsonSchema): JsonSchema {
  const composed = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((name) => name in schema)
  const { $schema: _, ...rest } = schema
  return composed ? rest : { ...rest, type: 'object', properties: rest['properties'] ?? {} }
}

function toChoice(choice: ToolChoice, names: ToolNames): NonNullable<LanguageModelV4CallOptions['toolChoice']> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: names.out(choice.tool) }
}

function toProviderOptions(
  request: ModelRequest,
  own: RequestContext['providerOptions'],
): NonNullable<LanguageModelV4CallOptions['providerOptions']> {
  const options: Record<string, JsonObject> = {}
  for (const [name, defaults] of Object.entries(own)) {
    const strict = request.responseFormat?.schema
    options[name] = { ...defaults, ...(strict === undefined ? {} : { strictJsonSchema: isStrict(strict) }) }
  }
  for (const [name, given] of Object.entries(request.providerOptions ?? {}))
    options[name] = { ...options[name], ...asObject(given) }
  if (givenCacheControl(request) === false) {
    // Ours to understand; the package knows only how it is switched on.
    const { cacheControl: _, ...rest } = options['anthropic'] ?? {}
    options['anthropic'] = rest
  }
  return options
}

/** OpenAI's strict mode: every object names all of its properties as required, and allows no others. */
function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return (schema as readonly Json[]).every(isStrict)
  const object = asObject(schema)
  if (object === undefined) return true
  const properties = asObject(object['properties'])
  if (properties !== undefined) {
    const required = new Set(Array.isArray(object['required']) ? (object['required'] as readonly Json[]) : [])
    if (object['additionalProperties'] !== false || Object.keys(properties).some((name) => !required.has(name))) return false
  }
  return Object.values(object).every(isStrict)
}

/** Without the members that are `undefined`. */
function defined<T extends object>(options: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}
