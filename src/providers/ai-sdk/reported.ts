/** What a provider says about an error, taken from whatever shape it comes in. */

import type { JsonObject } from '../../core/json.ts'
import { asArray, asObject, asString, objectsIn, parseObject } from '../wire/dialect.ts'
import { causes } from '../wire/network.ts'
import { retryAfter, retryAfterInBody } from './retry-after.ts'

export interface Reported {
  readonly message: string
  readonly status: number | undefined
  /** The provider's own codes and types: `insufficient_quota`. */
  readonly codes: readonly string[]
  readonly retryAfterMs: number | undefined
  /** The provider's own word on whether to try again. */
  readonly shouldRetry: boolean | undefined
  readonly requestId: string | undefined
  /** Google's names of the quotas that were exceeded. */
  readonly quotas: readonly string[]
  /** The body is no error as an API would send it: a page of a proxy, say. */
  readonly foreign: boolean
}

type Headers = Readonly<Record<string, string | undefined>>

/** @param thrown an error of a provider package, an error part of a stream, or the body of an error. */
export function reportOf(thrown: unknown, now: number): Reported | undefined {
  for (const error of causes(thrown)) {
    if (error.name === 'AI_APICallError') {
      const call = error as Error & {
        statusCode?: number
        responseBody?: unknown
        responseHeaders?: Headers
        isRetryable?: boolean
      }
      if (call.statusCode === undefined) continue
      const text = typeof call.responseBody === 'string' ? call.responseBody : JSON.stringify(call.responseBody ?? '')
      return ofBody(text, { status: call.statusCode, headers: call.responseHeaders ?? {}, fallback: error.message, now })
    }
    const value = asObject((error as { value?: unknown }).value)
    if (value === undefined) continue
    // What a package did not expect may be an error, or anything else.
    if (error.name === 'StreamedError' || (error.name === 'AI_TypeValidationError' && isReport(value)))
      return ofReport(value, now)
  }
  const object = thrown instanceof Error ? undefined : asObject(thrown)
  return object === undefined ? undefined : ofReport(object, now)
}

function isReport(value: JsonObject): boolean {
  return 'error' in value || asObject(value['response'])?.['error'] !== undefined || messageIn(value) !== undefined
}

/** A report may carry the status that the package made of it. */
function ofReport(report: JsonObject, now: number): Reported {
  const status = report['statusCode']
  return ofObject(report, { ...(typeof status === 'number' ? { status } : {}), headers: {}, fallback: 'unknown error', now })
}

interface Context {
  readonly status?: number
  readonly headers: Headers
  readonly fallback: string
  readonly now: number
}

function ofBody(text: string, context: Context): Reported {
  const parsed = parseObject(text) ?? objectsIn(tryParse(text))[0]
  if (parsed !== undefined) return ofObject(parsed, context)
  const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]
  const words = title ?? (text.trimStart().startsWith('<') ? '' : text)
  return { ...ofObject({}, context), message: words.trim() === '' ? context.fallback : words, foreign: true }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Errors stand in `error`, in `response.error` (Responses), in `data` (already unwrapped by a package), or are the whole. */
function ofObject(body: JsonObject, { status, headers, fallback, now }: Context): Reported {
  const data = asObject(body['data'])
  const whole = data !== undefined && ('error' in data || 'response' in data || 'message' in data) ? data : body
  const error = asObject(whole['error']) ?? asObject(asObject(whole['response'])?.['error']) ?? whole
  const inner = asObject(error['error']) ?? error
  const message = messageIn(inner) ?? messageIn(error) ?? asString(whole['error']) ?? messageIn(whole) ?? fallback
  const codes = [
    inner['code'],
    inner['type'],
    inner['status'],
    error['code'],
    error['type'],
    body['code'],
    body['type'],
    ...reasons(inner),
  ]
  const retryAfterMs = retryAfter(headers, now) ?? retryAfterInBody(whole, message) ?? retryAfterInBody({ error: inner }, message)
  return {
    message,
    status: status ?? statusIn(inner) ?? statusIn(error),
    codes: [...new Set(codes.flatMap((code) => (typeof code === 'string' && code !== 'error' && code !== '' ? [code] : [])))],
    retryAfterMs,
    shouldRetry: headers['x-should-retry'] === 'true' ? true : headers['x-should-retry'] === 'false' ? false : undefined,
    requestId: headers['x-request-id'] ?? headers['request-id'] ?? asString(body['request_id']),
    quotas: objectsIn(inner['details'])
      .flatMap((detail) => objectsIn(detail['violations']))
      .map((violation) => asString(violation['quotaId']) ?? ''),
    foreign: false,
  }
}

/** FastAPI servers say `detail`, a text or a list; some say `message` with a list. */
function messageIn(error: JsonObject): string | undefined {
  for (const name of ['message', 'detail', 'msg', 'error_description']) {
    const value = error[name]
    if (typeof value === 'string' && value.trim() !== '') return value
    const list = asArray(value)
      .map((entry) => asString(entry) ?? asString(asObject(entry)?.['msg']) ?? asString(asObject(entry)?.['message']))
      .filter((entry) => entry !== undefined)
    if (list.length > 0) return list.join('; ')
  }
  return undefined
}

/** Google explains itself in `details`: `API_KEY_INVALID`. */
function reasons(error: JsonObject): readonly (string | undefined)[] {
  return objectsIn(error['details']).map((detail) => asString(detail['reason']))
}

/** Codes that are a status, as a number or as its digits. */
function statusIn(error: JsonObject): number | undefined {
  for (const value of [error['code'], error['status'], error['statusCode'], error['http_status']]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
    if (typeof status === 'number' && status >= 400 && status < 600) return status
  }
  return undefined
}
