/** Makes a `CriaError` of whatever goes wrong between a request and the end of its answer. */

import { CriaError, isCriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { nearest } from '../../util/nearest.ts'
import { redact } from '../../util/redact.ts'
import { GarbledEventError } from '../wire/event-stream.ts'
import { asString } from '../wire/json.ts'
import { causes, connectionError, isAbort } from '../wire/network.ts'
import { classify } from './classify.ts'
import type { Reported } from './reported.ts'
import { reportOf } from './reported.ts'

export interface ErrorContext {
  /** Name of the provider: `openai`. */
  readonly provider: string
  /** `provider/model`. */
  readonly ref: string
  /** `host:port`, where it is known. */
  readonly host?: string
  /** What must not be seen in any message. */
  readonly secrets: readonly (string | undefined)[]
  /** Environment variables that a person can set, for hints. */
  readonly variables?: { readonly key?: string; readonly baseURL?: string }
  /** Models of this provider that are known, to guess what a mistyped name meant. */
  readonly knownModels?: () => readonly string[]
}

/** Longer messages of providers are cut: some repeat the request. */
const MAX_MESSAGE = 300
/** Characters of an answer of another shape that are repeated. */
const MAX_UNEXPECTED = 100

/** @param where `stream`: the answer had begun. */
export function toProviderError(thrown: unknown, context: ErrorContext, where: 'request' | 'stream'): CriaError {
  const made = convert(thrown, context, where)
  return new CriaError(made.code, redact(made.message, context.secrets), {
    retryable: made.retryable,
    ...(made.status === undefined ? {} : { status: made.status }),
    ...(made.hint === undefined ? {} : { hint: made.hint }),
    details: {
      provider: context.provider,
      model: context.ref,
      ...(context.host === undefined ? {} : { host: context.host }),
      ...clean(made.details, context.secrets),
    },
    cause: withoutSecrets(thrown, context.secrets),
  })
}

function convert(thrown: unknown, context: ErrorContext, where: 'request' | 'stream'): CriaError {
  const { provider } = context
  for (const error of causes(thrown)) {
    if (isCriaError(error)) return error
    if (isAbort(error))
      return new CriaError(error.name === 'TimeoutError' ? 'timeout' : 'aborted', `${provider}: ${error.message}`, {
        cause: error,
      })
    if (error instanceof GarbledEventError) return unreadable(error, error.data, context, 'stream', error.number)
    if (error.name === 'AI_JSONParseError')
      return unreadable(error, asString((error as { text?: unknown }).text), context, where, undefined)
    if (error.name === 'AI_LoadAPIKeyError') return new CriaError('auth', `${provider}: ${error.message}`, { cause: error })
    if (CANNOT_BE_SENT.has(error.name))
      return new CriaError('invalid_request', `${provider} cannot be sent this: ${short(error.message)}`, { cause: error })
  }
  const reported = reportOf(thrown, Date.now())
  if (reported !== undefined && (reported.status === undefined || reported.status >= 400))
    return reportedError(reported, context, thrown)
  if ([...causes(thrown)].some(isAnswerOfNoApi)) {
    return new CriaError(
      'invalid_response',
      `${provider}: the answer is not what this API sends: ${short(unexpectedIn(thrown) ?? innermostMessage(thrown))}`,
      { cause: thrown },
    )
  }
  if (where === 'stream') {
    return new CriaError('stream_interrupted', `${provider}: the answer broke off: ${short(innermostMessage(thrown))}`, {
      cause: thrown,
    })
  }
  if (hasSystemCode(thrown)) return connectionError(thrown, { provider, host: context.host ?? 'the server' })
  return new CriaError('internal', `${provider}: ${short(innermostMessage(thrown))}`, { cause: thrown })
}

const CANNOT_BE_SENT = new Set(['AI_UnsupportedFunctionalityError', 'AI_InvalidPromptError', 'AI_InvalidArgumentError'])

function reportedError(reported: Reported, context: ErrorContext, cause: unknown): CriaError {
  const { code, retryable } = classify(reported)
  const { status, codes, retryAfterMs, requestId } = reported
  const who = status === undefined ? `${context.provider} reported an error` : `${context.provider} answered ${status}`
  const kind = codes.find((name) => !/^\d+$/.test(name))
  const words = short(reported.message)
  const hint = hintFor(code, reported, context)
  return new CriaError(
    code,
    `${who}${kind === undefined || words.includes(kind) ? '' : ` (${kind})`}: ${words}${namesModel(code, words, context) ? '' : ` [${context.ref}]`}`,
    {
      ...(retryable === undefined ? {} : { retryable }),
      ...(status === undefined ? {} : { status }),
      ...(hint === undefined ? {} : { hint }),
      details: {
        ...(kind === undefined ? {} : { providerCode: kind }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(requestId === undefined ? {} : { requestId }),
      },
      cause,
    },
  )
}

function namesModel(code: ErrorCode, words: string, { ref }: ErrorContext): boolean {
  return code !== 'model_unavailable' || words.includes(modelOf(ref))
}

function modelOf(ref: string): string {
  return ref.slice(ref.indexOf('/') + 1)
}

function hintFor(code: ErrorCode, reported: Reported, { variables, knownModels, ref }: ErrorContext): string | undefined {
  if (code === 'auth') {
    const key = variables?.key
    return key === undefined
      ? undefined
      : `Check the API key of this provider: ${key} (in code also: the option apiKey). \`cria doctor\` tells which one is used.`
  }
  if (code === 'model_unavailable') {
    const close = nearest(modelOf(ref), knownModels?.() ?? [])
    return close === undefined ? undefined : `Did you mean ${ref.slice(0, ref.indexOf('/'))}/${close}? Or name a fallback model.`
  }
  if (code === 'invalid_response' && reported.foreign) {
    const variable = variables?.baseURL === undefined ? '' : ` (${variables.baseURL})`
    return `Is this the base URL of the API${variable}, with its version (…/v1)?`
  }
  if (code === 'overloaded' && !isBusy(reported)) return 'The provider failed on its side: try later or name a fallback model.'
  return undefined
}

/** It says that it has too much to do, and not that something broke. */
function isBusy({ status, codes, message }: Reported): boolean {
  if (status !== undefined && [409, 425, 429, 503, 529].includes(status)) return true
  return /overload|capacity|busy|unavailable|high demand|try again later/i.test([...codes, message].join(' '))
}

/** A piece of the stream, or the whole answer, is no JSON. */
function unreadable(
  cause: Error,
  text: string | undefined,
  { provider }: ErrorContext,
  where: 'request' | 'stream',
  number: number | undefined,
): CriaError {
  const what =
    where === 'request' ? 'the answer' : number === undefined ? 'an event of the stream' : `event ${number} of the stream`
  const shown = text === undefined ? '' : `: ${JSON.stringify(text.slice(0, 80))}`
  return new CriaError(
    where === 'request' ? 'invalid_response' : 'stream_interrupted',
    `${provider}: ${what} is no JSON${shown}.`,
    {
      ...(number === undefined ? {} : { details: { event: number } }),
      cause,
    },
  )
}

const NOT_AS_EXPECTED =
  /^AI_(TypeValidationError|InvalidResponseDataError|EmptyResponseBodyError|NoContentGeneratedError|JSONParseError)$/

/** An AI SDK model could not read the answer. */
function isAnswerOfNoApi(error: Error): boolean {
  const { statusCode } = error as { statusCode?: unknown }
  return (
    NOT_AS_EXPECTED.test(error.name) || (error.name === 'AI_APICallError' && typeof statusCode === 'number' && statusCode < 400)
  )
}

/** Packages describe what they got by a list of what it is not; the beginning of it says more. */
function unexpectedIn(thrown: unknown): string | undefined {
  for (const error of causes(thrown))
    if (error.name === 'AI_TypeValidationError')
      return JSON.stringify((error as { value?: unknown }).value)?.slice(0, MAX_UNEXPECTED)
  return undefined
}

function hasSystemCode(thrown: unknown): boolean {
  return [...causes(thrown)].some((error) => typeof (error as { code?: unknown }).code === 'string')
}

function innermostMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : JSON.stringify(thrown)
  return [...causes(thrown)].at(-1)?.message ?? thrown.message
}

/** One line without markup, not too long. */
export function short(text: string): string {
  const line = text
    .replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
    .replaceAll(/<\/?[a-z!][^>]*>/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= MAX_MESSAGE ? line : `${line.slice(0, MAX_MESSAGE)}…`
}

function clean(details: JsonObject | undefined, secrets: ErrorContext['secrets']): JsonObject {
  if (details === undefined) return {}
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === 'string' ? redact(value, secrets) : value]),
  )
}

/** Errors of packages carry the request and its headers; what is kept is what a person needs to find the place. */
function withoutSecrets(thrown: unknown, secrets: ErrorContext['secrets'], depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 4) return undefined
  const kept = new Error(redact(short(thrown.message), secrets), { cause: withoutSecrets(thrown.cause, secrets, depth + 1) })
  kept.name = thrown.name
  if (thrown.stack !== undefined)
    kept.stack = redact(
      thrown.stack
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
        .slice(0, 8)
        .join('\n'),
      secrets,
    )
  const { code } = thrown as { code?: unknown }
  return typeof code === 'string' ? Object.assign(kept, { code }) : kept
}
