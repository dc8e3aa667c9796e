/** Parses the error reports of providers, in all their formats. */

import type { JsonObject } from '../../core/json.ts'
import { asArray, asObject, asString, asText, objectsIn, parseObject } from '../wire/json.ts'
import { causes } from '../wire/network.ts'

export interface Reported {
  readonly message: string
  readonly status: number | undefined
  /** The provider's own codes and types: `insufficient_quota`. */
  readonly codes: readonly string[]
  readonly retryAfterMs: number | undefined
  /** The header `x-should-retry`. */
  readonly shouldRetry: boolean | undefined
  readonly requestId: string | undefined
  /** Google's names of the quotas that were exceeded. */
  readonly quotas: readonly string[]
  /** The body is not the error format of an API, but for example a page of a proxy. */
  readonly foreign: boolean
}

type Headers = Readonly<Record<string, string | undefined>>

/** An error that the provider reported: in the body of an answer, in an event of a stream, or by a status of 400 or more. */
export class ReportedError extends Error {
  readonly report: JsonObject | string
  readonly status: number | undefined
  readonly headers: Headers
  constructor(report: JsonObject | string, status?: number, headers: Headers = {}) {
    super('The provider reported an error.')
    this.name = 'ReportedError'
    this.report = report
    this.status = status
    this.headers = headers
  }
}

/** Members of an error: an object with a message, and no members beside these, counts as one. */
const MEMBERS = /^(?:message|detail|code|status|statusCode|error_code|param|type|object|request_id)$/

/** Returns whether an event or a body reports an error. An `error` of `null` or `''`, which some servers send in each chunk, does not count. */
export function isErrorReport(value: JsonObject): boolean {
  if ((value['error'] ?? '') !== '' || value['object'] === 'error') return true
  if (asArray(value['errors']).length > 0) return !holdsAnswer(value)
  const { type = 'error', message, detail } = value
  if (typeof message !== 'string' && typeof detail !== 'string') return false
  const isTyped = typeof type === 'string' && !/error$/i.test(type)
  return !isTyped && Object.keys(value).every((name) => MEMBERS.test(name))
}

/** Returns whether a body reports an error and holds no answer, or one of status `failed`. */
export function isErrorBody(body: JsonObject): boolean {
  return isErrorReport(body) && (body['status'] === 'failed' || !holdsAnswer(body))
}

function holdsAnswer(value: JsonObject): boolean {
  return ['choices', 'candidates', 'content'].some((name) => name in value) || objectsIn(value['output']).length > 0
}

/** Returns the report in an error; `undefined` if it holds none. @param thrown a `ReportedError`, an error of an AI SDK model, or an error body. */
export function reportOf(thrown: unknown, now: number): Reported | undefined {
  for (const error of causes(thrown)) {
    if (error instanceof ReportedError) {
      const { report, status, headers } = error
      return typeof report === 'string' ? ofText(report, { status, headers, fallback: '', now }) : ofObject(report, { now })
    }
    const { statusCode: status, responseBody: body = '', responseHeaders: headers, value } = error as Partial<SdkError>
    if (error.name === 'AI_APICallError' && typeof status === 'number')
      return ofText(typeof body === 'string' ? body : JSON.stringify(body), { status, headers, fallback: error.message, now })
    // A value that failed validation may be an error report.
    const refused = error.name === 'AI_TypeValidationError' ? asObject(value) : undefined
    if (refused !== undefined && messageIn(asObject(refused['response']) ?? refused) !== undefined)
      return ofObject(refused, { now })
  }
  const object = thrown instanceof Error ? undefined : asObject(thrown)
  return object === undefined ? undefined : ofObject(object, { now })
}

/** The members of errors of the AI SDK. */
interface SdkError {
  readonly statusCode: unknown
  readonly responseBody: unknown
  readonly responseHeaders: Headers
  readonly value: unknown
}

interface Context {
  readonly status?: number | undefined
  readonly headers?: Headers | undefined
  /** The message where the body has none. */
  readonly fallback?: string
  readonly now: number
}

function ofText(text: string, context: Context & { readonly fallback: string }): Reported {
  const parsed = parseObject(text) ?? objectsIn(parseObject(`{"list":${text}}`)?.['list'])[0]
  if (parsed !== undefined) return ofObject(parsed, context)
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]
  const words = title ?? (text.trimStart().startsWith('<') ? '' : text)
  return { ...ofObject({}, context), message: words.trim() === '' ? context.fallback : words, foreign: true }
}

/**
 * Reads an error from `error`, `response.error` (Responses), `data` (unwrapped by a package), or the whole body. A package may have added its
 * status.
 */
function ofObject(body: JsonObject, { status, headers = {}, fallback = 'unknown error', now }: Context): Reported {
  const { statusCode } = body
  const data = asObject(body['data'])
  const whole = data !== undefined && ['error', 'response', 'message'].some((name) => name in data) ? data : body
  const error =
    asObject(whole['error']) ?? asObject(asObject(whole['response'])?.['error']) ?? objectsIn(whole['errors'])[0] ?? whole
  const inner = asObject(error['error']) ?? error
  const message = messageIn(inner) ?? messageIn(error) ?? messageIn(whole) ?? fallback
  // Google puts the reason into `details`: `API_KEY_INVALID`.
  const details = objectsIn(inner['details'])
  const named = [inner, error, body].flatMap((place) => [place['code'], place['type']])
  const codes = [...named, inner['status'], ...details.map(({ reason }) => reason)].map((code) => asText(code))
  const { 'x-should-retry': again } = headers
  return {
    message,
    status: status ?? (typeof statusCode === 'number' ? statusCode : (statusIn(inner) ?? statusIn(error))),
    codes: [...new Set(codes)].filter((code) => code !== 'error' && code !== ''),
    retryAfterMs: retryAfter(headers, now) ?? retryAfterInBody(whole, message) ?? retryAfterInBody({ error: inner }, message),
    shouldRetry: again === 'true' || again === 'false' ? again === 'true' : undefined,
    requestId: headers['x-request-id'] ?? headers['request-id'] ?? asString(body['request_id']),
    quotas: details.flatMap((detail) => objectsIn(detail['violations'])).map(({ quotaId }) => asText(quotaId)),
    foreign: false,
  }
}

const MESSAGES = ['message', 'detail', 'msg', 'error_description', 'error', 'errors'] as const
/** Limit of nesting: gateways wrap the error of their upstream, some several times. */
const DEEPEST = 5

/**
 * Returns the message of an error, which is a text, a list, or an object or JSON text that holds one. FastAPI servers send `detail`, a text or a
 * list; OpenRouter keeps the message of its upstream in `metadata.raw`.
 */
export function messageIn(error: unknown, depth = 0): string | undefined {
  if (depth > DEEPEST) return undefined
  if (typeof error === 'string') {
    const wrapped = error.trimStart().startsWith('{') ? parseObject(error) : undefined
    const words = wrapped === undefined ? error : (messageIn(wrapped, depth + 1) ?? error)
    return words.trim() === '' ? undefined : words
  }
  if (Array.isArray(error)) {
    const list = asArray(error).flatMap((entry) => messageIn(entry, depth + 1) ?? [])
    return list.length === 0 ? undefined : list.join('; ')
  }
  const object = asObject(error)
  if (object === undefined) return undefined
  for (const name of MESSAGES) {
    const words = messageIn(object[name], depth + 1)
    if (words === undefined) continue
    const upstream = messageIn(asObject(object['metadata'])?.['raw'], depth + 1)
    return upstream === undefined || words.includes(upstream) ? words : `${words}: ${upstream}`
  }
  return undefined
}

/** Returns the HTTP status in an error, sent as a number or as a string of digits. */
function statusIn(error: JsonObject): number | undefined {
  for (const value of [error['code'], error['status'], error['statusCode'], error['http_status']]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
    if (typeof status === 'number' && status >= 400 && status < 600) return status
  }
  return undefined
}

/**
 * Returns the wait in milliseconds; `undefined` if the header is absent or not in the future: text, a negative number, a past date.
 * Reads seconds and HTTP dates (RFC 9110, section 10.2.3), and OpenAI's `retry-after-ms`.
 * @param now epoch milliseconds.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const exact = positive(Number(headers['retry-after-ms'] ?? Number.NaN))
  if (exact !== undefined) return exact
  const value = (headers['retry-after'] ?? '').trim()
  if (value === '') return undefined
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return positive(seconds * 1000)
  // The oldest of the three date formats (asctime) omits GMT.
  const date = Date.parse(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(value) ? `${value} GMT` : value)
  // Some engines parse text like "5 apples" as a date; an HTTP date names its time zone.
  return /(?:GMT|UTC|Z|[+-]\d\d:?\d\d|:\d\d \d{4})$/i.test(value) && !Number.isNaN(date) ? positive(date - now) : undefined
}

/** Returns the wait that the body names, in milliseconds: Google's `RetryInfo` (`"34.5s"`), or a message such as “try again in 1m20.5s”. */
export function retryAfterInBody(body: unknown, message: string): number | undefined {
  const details = objectsIn(asObject(asObject(body)?.['error'])?.['details'])
  const delay = details.map(({ retryDelay }) => asString(retryDelay)).find((said) => said !== undefined)
  const words = delay ?? ASKED.exec(message)?.[1]
  return words === undefined ? undefined : positive(duration(words))
}

const ASKED =
  /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:ms|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b ?|\d+(?:\.\d+)?[hm](?=\d))+)/i

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Converts a duration such as `1m20.5s` to milliseconds. */
function duration(text: string): number {
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?) ?(ms|h|m|s)/gi))
    sum += Number(amount) * (UNITS[(unit ?? '').toLowerCase()] ?? 0)
  return sum
}

function positive(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined
}
