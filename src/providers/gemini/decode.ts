/**
 * Decodes answers of the Gemini API. The API has no end mark, so chunks after the one with a finish reason are ignored, unless every chunk has a
 * reason, as in old versions of the API.
 */

import type { JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Decoder } from '../api.ts'
import { isErrorReport, ReportedError } from '../errors/reported.ts'
import { asObject, asString, asText, objectsIn } from '../wire/json.ts'

export { readGeminiUsage as readUsage } from '../answer/usage.ts'

const THINKING = 'thinking'
/** Kinds of parts that only Google understands, by the name of their member. */
const KINDS: Readonly<Record<string, string>> = {
  executableCode: 'tool-call:code_execution',
  codeExecutionResult: 'tool-result:code_execution',
  toolCall: 'tool-call:TOOL',
  toolResponse: 'tool-result:TOOL',
  inlineData: 'file',
  fileData: 'file',
}

export function decode(answer: Answer): Decoder {
  /** Index of the candidate that is read, the first to begin. */
  let ours: number | undefined
  let finished: string | undefined
  let hasReasonInEveryChunk = true
  /** A tool call whose arguments are still arriving. */
  let open:
    | { readonly call: JsonObject; readonly data: JsonObject | undefined; readonly args: Record<string, unknown> }
    | undefined

  function event(event: JsonObject): void {
    if (isErrorReport(event)) throw new ReportedError(event)
    answer.response(event['responseId'], event['modelVersion'])
    answer.usage(event['usageMetadata'])
    const candidate = candidateIn(event)
    if (candidate === undefined) return noteBlock(event)
    const reason = asString(candidate['finishReason'])
    hasReasonInEveryChunk &&= reason !== undefined
    const said = reason === undefined ? undefined : JSON.stringify(candidate)
    if (finished !== undefined && (!hasReasonInEveryChunk || said === finished)) return
    finished = said
    readCandidate(candidate)
  }

  /** Returns the candidate that is read; Google omits an index of 0. */
  function candidateIn(event: JsonObject): JsonObject | undefined {
    return objectsIn(event['candidates']).find(({ index }) => {
      const number = typeof index === 'number' ? index : 0
      ours ??= number
      return number === ours
    })
  }

  function readCandidate(candidate: JsonObject): void {
    for (const part of objectsIn(asObject(candidate['content'])?.['parts'])) readPart(part)
    const reason = asString(candidate['finishReason'])
    if (reason === undefined) return
    answer.rawReason = reason
    answer.complete = true
  }

  function readPart(part: JsonObject): void {
    const { text, thought, functionCall: called } = part
    const thoughtSignature = asString(part['thoughtSignature'])
    const data = thoughtSignature === undefined ? undefined : { google: { thoughtSignature } }
    const call = asObject(called)
    if (call !== undefined) readCall(call, data)
    else if (typeof text === 'string') {
      if (thought === true) {
        answer.think(THINKING, text)
        if (data !== undefined) answer.endThinking(THINKING, data)
      } else {
        answer.text(text)
        answer.endText(data)
      }
    } else keep(part)
  }

  /** Reads a tool call, which arrives whole, or as its head, then pieces of its arguments, then an empty piece. */
  function readCall(call: JsonObject, data: JsonObject | undefined): void {
    if (typeof call['name'] === 'string') open = { call, data, args: {} }
    for (const piece of objectsIn(call['partialArgs'])) if (open !== undefined) addPiece(open.args, piece)
    if (call['willContinue'] === true || open === undefined) return
    const { args, data: own, call: head } = open
    open = undefined
    answer.call(asText(head['id']), asText(head['name']), head['args'] ?? args, own)
  }

  /** Keeps calls of tools that ran at Google, generated images, and unknown parts. */
  function keep(part: JsonObject): void {
    const name = Object.keys(part).find((key) => key !== 'thoughtSignature' && key !== 'thought') ?? 'part'
    const toolType = asString(asObject(part[name])?.['toolType'])
    answer.opaque(KINDS[name]?.replace('TOOL', () => String(toolType)) ?? name, { block: part })
  }

  /** Reads the reason why Google blocked the prompt; such a response has no candidate. */
  function noteBlock(event: JsonObject): void {
    const reason = asString(asObject(event['promptFeedback'])?.['blockReason'])
    if (reason === undefined || reason === 'BLOCK_REASON_UNSPECIFIED' || answer.rawReason !== undefined) return
    answer.rawReason = reason
    answer.refused = true
    answer.complete = true
  }

  return { event, whole: event, end() {} }
}

type Container = Record<string, unknown> | unknown[]

/** Sets the value of a piece at its path, or appends it to an existing string. Ignores a path that cannot be followed. */
function addPiece(args: Container, piece: JsonObject): void {
  const keys = keysOf(asText(piece['jsonPath']))
  const last = keys.pop()
  if (last === undefined) return
  let at = args
  for (const [index, key] of keys.entries()) {
    const next = read(at, key) ?? write(at, key, typeof (keys[index + 1] ?? last) === 'number' ? [] : {})
    if (typeof next !== 'object' || next === null) return
    at = next as Container
  }
  const value = piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'] ?? null
  const before = read(at, last)
  write(at, last, typeof before === 'string' && typeof value === 'string' ? before + value : value)
}

function keysOf(path: string): (string | number)[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[['"]([^'"]*)['"]\]/g)].map(([, name, index, quoted]) =>
    index === undefined ? (name ?? quoted ?? '') : Number(index),
  )
}

/** Reads own members only, because a path may name a prototype. */
function read(container: Container, key: string | number): unknown {
  return Object.hasOwn(container, key) ? (container as Record<string | number, unknown>)[key] : undefined
}

/** Lets lists grow by one element only, because a path may name any index. */
function write(container: Container, key: string | number, value: unknown): unknown {
  if (Array.isArray(container) && (typeof key !== 'number' || key > container.length)) return undefined
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
  return value
}
