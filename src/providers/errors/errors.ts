/** Converts every error between a request and the end of its answer to a `CriaError`. */

import { CriaError, isCriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { nearest } from '../../util/nearest.ts'
import { redact } from '../../util/redact.ts'
import { causes, connectionError, isAbort } from '../wire/network.ts'
import { classify } from './classify.ts'
import type { Reported } from './reported.ts'
import { reportOf } from './reported.ts'
import { defined } from '../../util/check.ts'

export interface ErrorContext {
  /** Name of the provider: `openai`. */
  readonly provider: string
  /** `provider/model`. */
  readonly ref: string
  /** `host:port`, if it is known. */
  readonly host?: string
  /** Removed from every message. */
  readonly secrets: readonly (string | undefined)[]
  /** Environment variables that hints name. */
  readonly variables?: { readonly key?: string | undefined; readonly baseURL?: string }
  /** Known models of this provider, to suggest one for a mistyped name. */
  readonly knownModels?: () => readonly string[]
}

/** Longer messages of providers are cut to this many characters: some repeat the request. */
const MAX_MESSAGE = 300

/** @param where `stream` if the answer had begun. */
export function toProviderError(thrown: unknown, context: ErrorContext, where: 'request' | 'stream'): CriaError {
  const { provider, ref, host, secrets } = context
  const { code, message, retryable, status, hint, details } = convert(thrown, context, where)
  const clean = (value: Json | undefined): Json | undefined => (typeof value === 'string' ? redact(value, secrets) : value)
  const cleaned = Object.fromEntries(Object.entries(details ?? {}).map(([name, value]) => [name, clean(value)]))
  return new CriaError(code, redact(message, secrets), {
    retryable,
    status,
    hint,
    details: { provider, model: ref, ...defined({ host }), ...cleaned },
    cause: withoutSecrets(thrown, secrets),
  })
}

function convert(thrown: unknown, context: ErrorContext, where: 'request' | 'stream'): CriaError {
  const { provider, host = 'the server' } = context
  const all = [...causes(thrown)]
  for (const error of all) {
    const { name, message } = error
    if (isCriaError(error)) return error
    if (isAbort(error)) return new CriaError(name === 'TimeoutError' ? 'timeout' : 'aborted', `${provider}: ${message}`)
    // An event of the stream, or a whole answer, that an AI SDK model could not parse.
    if (name === 'AI_JSONParseError') return new CriaError(UNREADABLE[where], `${provider}: ${short(message)}`)
    if (name === 'AI_LoadAPIKeyError') return new CriaError('auth', `${provider}: ${message}`)
    if (CANNOT_BE_SENT.has(name)) return new CriaError('invalid_request', `${provider} does not take this: ${short(message)}`)
  }
  const reported = reportOf(thrown, Date.now())
  if (reported !== undefined && (reported.status ?? 400) >= 400) return reportedError(reported, context)
  const innermost = all.at(-1)?.message ?? (typeof thrown === 'string' ? thrown : JSON.stringify(thrown))
  if (all.some(isAnswerOfNoApi)) {
    // Packages describe an unexpected value by a list of failed checks; the beginning of the value is more useful.
    const unexpected = all.find(({ name }) => name === 'AI_TypeValidationError') as { value?: unknown } | undefined
    const words = short(JSON.stringify(unexpected?.value)?.slice(0, 100) ?? innermost)
    return new CriaError('invalid_response', `${provider}: the answer is not what this API sends: ${words}`)
  }
  if (where === 'stream') return new CriaError('stream_interrupted', `${provider}: the answer broke off: ${short(innermost)}`)
  const isOfSystem = all.some((error) => typeof (error as { code?: unknown }).code === 'string')
  return isOfSystem ? connectionError(thrown, { provider, host }) : new CriaError('internal', `${provider}: ${short(innermost)}`)
}

const UNREADABLE = { request: 'invalid_response', stream: 'stream_interrupted' } as const
const CANNOT_BE_SENT = new Set(['AI_UnsupportedFunctionalityError', 'AI_InvalidPromptError', 'AI_InvalidArgumentError'])

/** Returns whether an error means that an AI SDK model could not read the answer. */
function isAnswerOfNoApi(error: Error): boolean {
  if (error.name === 'AI_APICallError') return Number((error as { statusCode?: unknown }).statusCode) < 400
  return /^AI_(TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/.test(error.name)
}

function reportedError(reported: Reported, context: ErrorContext): CriaError {
  const { provider, ref } = context
  const { code, retryable } = classify(reported)
  const { status, codes, retryAfterMs, requestId } = reported
  const who = status === undefined ? `${provider} reported an error` : `${provider} answered ${status}`
  const kind = codes.find((name) => !/^\d+$/.test(name))
  const words = short(reported.message)
  const what = kind === undefined || words.includes(kind) ? who : `${who} (${kind})`
  const model = code === 'model_unavailable' && !words.includes(modelOf(ref)) ? ` [${ref}]` : ''
  return new CriaError(code, `${what}${words === '' ? '' : `: ${words}`}${model}`, {
    retryable,
    status,
    hint: hintFor(code, reported, context),
    details: defined({ providerCode: kind, retryAfterMs, requestId }),
  })
}

function modelOf(ref: string): string {
  return ref.slice(ref.indexOf('/') + 1)
}

function hintFor(code: ErrorCode, reported: Reported, { variables, knownModels, ref }: ErrorContext): string | undefined {
  if (code === 'auth' && variables?.key !== undefined)
    return `Check the API key of this provider: ${variables.key} (in code also: the option apiKey). \`cria doctor\` shows which one is used.`
  if (code === 'model_unavailable') {
    const known = knownModels?.() ?? []
    // A known name is spelt correctly: it is this server or key that does not offer the model.
    const close = known.includes(modelOf(ref)) ? undefined : nearest(modelOf(ref), known)
    return close === undefined ? undefined : `Did you mean ${ref.slice(0, ref.indexOf('/'))}/${close}? Or name a fallback model.`
  }
  if (code === 'invalid_response' && reported.foreign) {
    const variable = variables?.baseURL === undefined ? '' : ` (${variables.baseURL})`
    return `Is this the base URL of the API${variable}, with its version (…/v1)?`
  }
  // The provider is busy, which passes, or it has failed.
  const { status = 0, codes, message } = reported
  const isBusy = [409, 425, 429, 503, 529].includes(status) || BUSY.test([...codes, message].join(' '))
  return code === 'overloaded' && !isBusy ? 'The provider failed on its side: try later or name a fallback model.' : undefined
}

const BUSY = /overload|capacity|busy|unavailable|high demand|try again later/i

/** Returns the text in one line, without markup, cut to `MAX_MESSAGE` characters. */
export function short(text: string): string {
  const line = text
    .replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
    .replaceAll(/<\/?[a-z!][^>]*>/gi, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= MAX_MESSAGE ? line : `${line.slice(0, MAX_MESSAGE)}…`
}

/** Copies an error without the request and headers that packages attach; keeps name, message, code, causes and 8 lines of the stack. */
function withoutSecrets(thrown: unknown, secrets: ErrorContext['secrets'], depth = 0): unknown {
  if (!(thrown instanceof Error) || depth > 4) return undefined
  const kept = new Error(redact(short(thrown.message), secrets), { cause: withoutSecrets(thrown.cause, secrets, depth + 1) })
  kept.name = thrown.name
  const places = thrown.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  if (places !== undefined) kept.stack = redact(places.slice(0, 8).join('\n'), secrets)
  const { code } = thrown as { code?: unknown }
  return typeof code === 'string' ? Object.assign(kept, { code }) : kept
}
