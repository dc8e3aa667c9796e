/**
 * Reads tool calls that models without native calls write as JSON text. Text is a call only if the whole answer is that JSON, the tool was
 * offered and the input matches; another JSON answer with a `name` stays an answer.
 */

import type { CreateId } from '../core/id.ts'
import type { Json } from '../core/json.ts'
import type { ModelPart, ToolSpec } from '../core/model.ts'
import type { ToolCallPart } from '../core/part.ts'
import { isRecord } from '../util/check.ts'
import { schemaProblems } from '../util/json-schema.ts'

/**
 * Parses one call, a list of calls and `{ "tools": [...] }` or `{ "tool_calls": [...] }`, with `arguments`, `parameters` or `input` as an
 * object, as a string of JSON or left out, a `function` wrapper, and a code fence around it all.
 *
 * @returns all calls, or none if any of them is invalid.
 */
export function toolCallsInText(text: string, tools: readonly ToolSpec[], createId: CreateId): ToolCallPart[] {
  if (tools.length === 0) return []
  const value = parse(unfenced(text.trim()))
  const calls: ToolCallPart[] = []
  for (const candidate of candidatesIn(value)) {
    const call = callOf(candidate, tools)
    if (call === undefined) return []
    calls.push({ type: 'tool-call', id: createId('call'), ...call })
  }
  return calls
}

/**
 * Passes on the parts of an answer, converting a call in text form to a tool call. Text that may still become a call is held back, so that
 * it need not be taken back.
 */
export async function* readTextToolCalls(
  parts: AsyncIterable<ModelPart>,
  tools: readonly ToolSpec[],
  createId: CreateId,
): AsyncGenerator<ModelPart, void, undefined> {
  let held = ''
  // Only the beginning is examined: examining all held text for each part would take quadratic time.
  let beginning = ''
  let deciding = tools.length > 0
  function* release(): Generator<ModelPart> {
    if (held !== '') yield { type: 'text', text: held }
    held = ''
    deciding = false
  }
  try {
    for await (const part of parts) {
      if (part.type === 'restart') {
        held = ''
        beginning = ''
        deciding = tools.length > 0
      }
      if (deciding && part.type === 'text' && part.providerData === undefined) {
        held += part.text
        if (beginning.length < FENCE.length) beginning = (beginning + part.text).trimStart().slice(0, FENCE.length)
        if (!mayBeToolCall(beginning)) yield* release()
        continue
      }
      if (deciding && (part.type === 'finish' || part.type === 'tool-call' || part.type === 'text')) {
        const calls = part.type === 'finish' && part.reason === 'stop' ? toolCallsInText(held, tools, createId) : []
        if (calls.length > 0) {
          held = ''
          deciding = false
          yield* calls
          yield { ...part, type: 'finish', reason: 'tool-calls' }
          continue
        }
        yield* release()
      }
      yield part
    }
  } catch (thrown) {
    // The text so far of an interrupted answer is kept.
    yield* release()
    throw thrown
  }
  yield* release()
}

const FENCE = '```'

/** Returns `true` if text with this beginning may still become a call. */
export function mayBeToolCall(beginning: string): boolean {
  const text = beginning.trimStart()
  return text === '' || text.startsWith('{') || text.startsWith('[') || FENCE.startsWith(text.slice(0, FENCE.length))
}

function unfenced(text: string): string {
  const fence = /^```[\w-]*\s*\n([\s\S]*?)\n?```$/.exec(text)
  return (fence?.[1] ?? text).trim()
}

function parse(text: string): unknown {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function candidatesIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isRecord(value)) return []
  const wrapped = value['tools'] ?? value['tool_calls']
  return Array.isArray(wrapped) ? wrapped : [value]
}

const OF_A_CALL: ReadonlySet<string> = new Set(['name', 'arguments', 'parameters', 'input', 'type', 'id'])

function callOf(candidate: unknown, tools: readonly ToolSpec[]): { readonly name: string; readonly input: Json } | undefined {
  if (!isRecord(candidate)) return undefined
  const call = isRecord(candidate['function']) ? candidate['function'] : candidate
  // A call without arguments may omit them; other data with a `name` has further members.
  const unsaid = Object.keys(call).every((key) => OF_A_CALL.has(key)) ? {} : undefined
  const given = call['arguments'] ?? call['parameters'] ?? call['input'] ?? unsaid
  const written = typeof given === 'string' ? given.trim() : undefined
  const input = written === undefined ? given : parse(written || '{}')
  const tool = tools.find(({ name }) => name === call['name'])
  if (tool === undefined || !isRecord(input) || schemaProblems(tool.inputSchema, input).length > 0) return undefined
  // The value comes from JSON.parse.
  return { name: tool.name, input: input as Json }
}
