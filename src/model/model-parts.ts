/** Validates the parts that a model streams, since users supply their own models. */

import { CriaError } from '../core/error.ts'
import type { FinishReason, LanguageModel, ModelCall, ModelPart, ModelRequest } from '../core/model.ts'
import { iterateIn } from '../core/span.ts'
import type { Usage } from '../core/usage.ts'
import { describe, isJson, isRecord } from '../util/check.ts'
import { namesOf } from '../util/nearest.ts'
import { ignoreRejection, isPromise } from '../util/promise.ts'

/**
 * Streams the parts of a model for a request, checking each.
 *
 * @throws CriaError `invalid_response` if `stream()` does not return a stream; from the iterator, if a part is invalid.
 */
export function modelParts(model: LanguageModel, request: ModelRequest, call: ModelCall): AsyncGenerator<ModelPart> {
  const stream: unknown = model.stream(request, call)
  if (!isAsyncIterable(stream)) {
    ignoreRejection(stream)
    const received = isPromise(stream) ? 'a promise: write `async *stream()`' : describe(stream)
    throw mistaken(model.ref, `\`stream()\` must return an async iterable of parts, but returns ${received}.`)
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

/** Makes an error that is not retryable: the same request would fail in the same way. */
function mistaken(ref: string, what: string): CriaError {
  return new CriaError('invalid_response', `The model ${ref} does not answer as a model of cria does: ${what}`, {
    retryable: false,
    hint: 'Correct the `stream()` of this model: it must yield parts as described at `ModelPart`.',
  })
}

/** A check of a member: its path, the expectation in words, and the test. */
type Member = readonly [path: string, expected: string, test: (value: unknown) => boolean]

const isString = (value: unknown): boolean => typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isJsonObject = (value: unknown): boolean => isRecord(value) && isJson(value)
const orNothing =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || test(value)

const TEXT: readonly Member[] = [['text', 'a string', isString]]
const FINISH_REASONS = namesOf<Record<FinishReason, true>>({
  stop: true,
  length: true,
  'tool-calls': true,
  'content-filter': true,
  error: true,
  other: true,
})
const COUNTS = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const
const EXACTNESS = namesOf<Record<Usage['exactness'], true>>({ exact: true, estimated: true, unknown: true })

const MEMBERS = new Map<unknown, readonly Member[]>(
  Object.entries({
    text: TEXT,
    thinking: TEXT,
    'tool-call': [
      ['id', 'a string that is not empty', (value) => isString(value) && value !== ''],
      ['name', 'a string', isString],
      ['input', 'JSON', isJson],
      ['invalid', 'a string', orNothing(isString)],
    ],
    opaque: [
      ['kind', 'a string', isString],
      ['providerData', 'an object of JSON', isJsonObject],
    ],
    response: [
      ['id', 'a string', orNothing(isString)],
      ['model', 'a string', orNothing(isString)],
    ],
    usage: [
      ['usage', 'an object', isRecord],
      ...COUNTS.map((name): Member => {
        const isKnown = (value: unknown): boolean => value === null || isCount(value)
        return [`usage.${name}`, 'a whole number of tokens, or null if unknown', isKnown]
      }),
      ['usage.cacheWrite1hTokens', 'a whole number of tokens, or nothing', orNothing(isCount)],
      ['usage.exactness', `one of ${EXACTNESS.join(', ')}`, (value) => EXACTNESS.includes(String(value))],
    ],
    finish: [
      ['reason', `one of ${FINISH_REASONS.join(', ')}`, (value) => FINISH_REASONS.includes(String(value))],
      ['rawReason', 'a string', orNothing(isString)],
    ],
  } satisfies Partial<Record<ModelPart['type'], readonly Member[]>>),
)
const PROVIDER_DATA: Member = ['providerData', 'an object of JSON', orNothing(isJsonObject)]

/** Returns the fault of a part as a sentence. Unknown types are valid, and ignored later. */
function mistakeIn(part: unknown): string | undefined {
  if (!isRecord(part) || !isString(part['type'])) return `a part must be an object with a \`type\`, but is ${describe(part)}.`
  const members = MEMBERS.get(part['type']) ?? []
  const wrong =
    members.find(([path, , test]) => !test(memberOf(part, path))) ?? [PROVIDER_DATA].find(([path, , test]) => !test(part[path]))
  if (wrong === undefined) return undefined
  const [path, expected] = wrong
  const { type } = part
  return `\`${path}\` of a part of type "${String(type)}" must be ${expected}, but is ${describe(memberOf(part, path))}.`
}

/** @param path name of a member, or `usage.` and the name of one of its members. */
function memberOf(part: Readonly<Record<string, unknown>>, path: string): unknown {
  const { usage } = part
  return path.startsWith('usage.') && isRecord(usage) ? usage[path.slice('usage.'.length)] : part[path]
}
