/** The border to models: what one of them streams is checked once, here, since users bring their own. */

import { CriaError } from '../core/error.ts'
import type { FinishReason, LanguageModel, ModelCall, ModelPart, ModelRequest } from '../core/model.ts'
import { iterateIn } from '../core/span.ts'
import type { Usage } from '../core/usage.ts'
import { describe, isJson, isRecord } from '../util/check.ts'
import { isPromise, unheard } from '../util/promise.ts'

/**
 * What `model` streams for a request, its parts checked.
 *
 * @throws CriaError `invalid_response` when `stream()` gives no stream, and from the iterator when something is no part.
 */
export function modelParts(model: LanguageModel, request: ModelRequest, call: ModelCall): AsyncGenerator<ModelPart> {
  const stream: unknown = model.stream(request, call)
  if (!isAsyncIterable(stream)) {
    unheard(stream)
    const received = isPromise(stream) ? 'a promise: write `async *stream()`' : describe(stream)
    throw mistaken(model.ref, `\`stream()\` must give an async iterable of parts, but gives ${received}.`)
  }
  return iterateIn(call.span, stream, (value) => checked(value, model.ref))
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, Symbol.asyncIterator) === 'function'
}

function checked(value: unknown, ref: string): ModelPart {
  const wrong = mistakeIn(value)
  if (wrong === undefined) return value as ModelPart
  throw mistaken(ref, wrong)
}

/** The same request would be answered in the same way: it is not made again. */
function mistaken(ref: string, what: string): CriaError {
  return new CriaError('invalid_response', `The model ${ref} does not answer as a model of cria does: ${what}`, {
    retryable: false,
    hint: 'Mend the `stream()` of this model: what it yields is described at `ModelPart`.',
  })
}

/** What is wrong with a part, as a sentence; a kind that nobody knows is ignored later, and right. */
function mistakeIn(value: unknown): string | undefined {
  if (!isRecord(value) || typeof value['type'] !== 'string')
    return `a part must be an object with a \`type\`, but is ${describe(value)}.`
  // Known only to be an object with a type.
  const part = value as Partial<Record<string, unknown>> & { readonly type: ModelPart['type'] }
  const wrong = (member: string, expected: string): string =>
    `\`${member}\` of a part of type "${part.type}" must be ${expected}, but is ${describe(memberOf(part, member))}.`
  const data = part['providerData']
  switch (part.type) {
    case 'text':
    case 'thinking':
      if (typeof part['text'] !== 'string') return wrong('text', 'a string')
      break
    case 'tool-call':
      if (typeof part['id'] !== 'string' || part['id'] === '') return wrong('id', 'a string that is not empty')
      if (typeof part['name'] !== 'string') return wrong('name', 'a string')
      if (!isJson(part['input'])) return wrong('input', 'JSON')
      if (part['invalid'] !== undefined && typeof part['invalid'] !== 'string') return wrong('invalid', 'a string')
      break
    case 'opaque':
      if (typeof part['kind'] !== 'string') return wrong('kind', 'a string')
      if (data === undefined) return wrong('providerData', 'an object of JSON')
      break
    case 'response':
      for (const name of ['id', 'model'])
        if (part[name] !== undefined && typeof part[name] !== 'string') return wrong(name, 'a string')
      break
    case 'usage':
      return mistakeInUsage(part['usage'], wrong)
    case 'finish':
      if (!Object.hasOwn(FINISH_REASONS, String(part['reason'])))
        return wrong('reason', `one of ${Object.keys(FINISH_REASONS).join(', ')}`)
      if (part['rawReason'] !== undefined && typeof part['rawReason'] !== 'string') return wrong('rawReason', 'a string')
      break
    default:
  }
  return data === undefined || (isRecord(data) && isJson(data)) ? undefined : wrong('providerData', 'an object of JSON')
}

const FINISH_REASONS: Readonly<Record<FinishReason, true>> = {
  stop: true,
  length: true,
  'tool-calls': true,
  'content-filter': true,
  error: true,
  other: true,
}
const COUNTS: readonly (keyof Usage)[] = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
]
const EXACTNESS: Readonly<Record<Usage['exactness'], true>> = { exact: true, estimated: true, unknown: true }

function mistakeInUsage(usage: unknown, wrong: (member: string, expected: string) => string): string | undefined {
  if (!isRecord(usage)) return wrong('usage', 'an object')
  for (const name of COUNTS) {
    const count = usage[name]
    if (count !== null && !isCount(count)) return wrong(`usage.${name}`, 'a whole number of tokens, or null where nobody knows')
  }
  const anHour = usage['cacheWrite1hTokens']
  if (anHour !== undefined && !isCount(anHour)) return wrong('usage.cacheWrite1hTokens', 'a whole number of tokens, or nothing')
  return Object.hasOwn(EXACTNESS, String(usage['exactness']))
    ? undefined
    : wrong('usage.exactness', `one of ${Object.keys(EXACTNESS).join(', ')}`)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function memberOf(value: unknown, path: string): unknown {
  return path.split('.').reduce((at, name) => (isRecord(at) ? at[name] : undefined), value)
}
