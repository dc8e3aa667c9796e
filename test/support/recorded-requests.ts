/** Converts recorded requests to our messages and tools, as far as counting tokens needs it. */

import type { RequestMessage, ToolSpec } from '../../src/core/model.ts'
import type { Part } from '../../src/core/part.ts'

type Fields = Readonly<Record<string, unknown>>

export interface RecordedRequest {
  readonly messages: readonly RequestMessage[]
  readonly tools: readonly ToolSpec[]
}

/** Returns `undefined` if the request refers to data outside of it: an earlier answer, a cache, a file, a tool of the provider. */
export function readRequest(body: unknown): RecordedRequest | undefined {
  const request = fields(body)
  const { messages, input, contents } = request
  if (KEPT_ELSEWHERE.some((name) => request[name] !== undefined && request[name] !== null)) return undefined
  const tools = list(request['tools']).flatMap((tool) =>
    Array.isArray(tool['functionDeclarations']) ? list(tool['functionDeclarations']) : [tool],
  )
  if (tools.some((tool) => !isFunction(tool))) return undefined
  const said = [...list(messages ?? contents), ...(typeof input === 'string' ? [{ role: 'user', content: input }] : list(input))]
  const instructions = [request['system'], request['systemInstruction'], request['instructions']].filter(
    (each) => each !== undefined,
  )
  const all = [...instructions.map((content) => ({ role: 'system', ...asContent(content) })), ...said]
  const parts = all.map((message) => partsOf(message))
  if (parts.length === 0 || parts.some((each) => each === undefined)) return undefined
  return {
    messages: parts.map((each) => ({ role: 'user', content: '', parts: each ?? [] })),
    tools: tools.map((tool) => {
      const spec = fields(tool['function'] ?? tool)
      return {
        name: written(spec['name']),
        description: written(spec['description']),
        inputSchema: fields(spec['parameters'] ?? spec['input_schema'] ?? spec['parametersJsonSchema'] ?? {}),
      } as ToolSpec
    }),
  }
}

const KEPT_ELSEWHERE = [
  'previous_response_id',
  'cachedContent',
  'conversation',
  'container',
  'mcp_servers',
  'prompt',
  'web_search_options',
  'plugins',
  'functions',
  'compound_custom',
  'search_parameters',
  'context_management',
]

function isFunction(tool: Fields): boolean {
  const { type } = tool
  return (type === undefined || type === 'function' || type === 'custom') && (tool['function'] ?? tool['name']) !== undefined
}

function asContent(content: unknown): Fields {
  return typeof content === 'object' && content !== null && !Array.isArray(content) ? fields(content) : { content }
}

function partsOf(message: Fields): Part[] | undefined {
  const { content, parts, tool_calls: calls, type } = message
  if (type === 'function_call') return [text(`${String(message['name'])}${String(message['arguments'])}`)]
  if (type === 'function_call_output') return [text(written(message['output']))]
  if (type === 'reasoning' || type === 'item_reference' || (typeof type === 'string' && type.endsWith('_call'))) return undefined
  const own = typeof content === 'string' ? [text(content)] : list(content ?? parts).map((part) => partOf(part))
  if (own.some((part) => part === undefined)) return undefined
  const called = list(calls).map((call) => {
    const made = fields(call['function'])
    return text(`${String(made['name'])}${written(made['arguments'])}`)
  })
  return [...own.flatMap((part) => (part === undefined ? [] : [part])), ...called]
}

/** Converts only text, calls and results: providers differ in how they count images and documents. */
function partOf(part: Fields): Part | undefined {
  const said = saidIn(part)
  const { thoughtSignature } = part
  return said?.type === 'text' && typeof thoughtSignature === 'string' ? { ...said, providerData: { thoughtSignature } } : said
}

function saidIn(part: Fields): Part | undefined {
  if (typeof part['text'] === 'string') return text(part['text'])
  if (part['type'] === 'thinking') return text(String(part['thinking']))
  if (part['type'] === 'tool_use') return text(`${String(part['name'])}${written(part['input'])}`)
  if (part['type'] === 'tool_result') return text(written(part['content']))
  if (part['functionCall'] !== undefined) return text(written(part['functionCall']))
  const response = part['functionResponse']
  if (response !== undefined) return fields(response)['parts'] === undefined ? text(written(response)) : undefined
  return undefined
}

function text(value: string): Part {
  return { type: 'text', text: value }
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : []
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : { text: written(value) }
}
