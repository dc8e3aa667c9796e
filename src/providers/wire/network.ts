/** Describes requests, and converts network failures to errors that name the host. */

import type { Readable } from 'node:stream'
import { CriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'

/** The server that receives a request. */
export interface Peer {
  /** Name of the provider: `openai`. */
  readonly provider: string
  /** `host:port`. */
  readonly host: string
}

/** The subset of `fetch` and of its response that is used. */
export type Fetch = (url: string, init: Sent) => Promise<Answered>
export interface Sent {
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: string
  readonly signal?: AbortSignal
  readonly redirect: 'manual'
}
export interface Answered {
  readonly status: number
  readonly ok: boolean
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null | undefined }
  /** Absent from some responses that a caller's own `fetch` makes. */
  readonly body?: Readable | ReadableStream<Uint8Array> | null
}

/** A network failure: its code, its message with `HOST` in place of the host, advice for the user, and `false` if a retry cannot help. */
type Trouble = readonly [code: ErrorCode, words: string, hint?: string | undefined, retryable?: false]

const UNTRUSTED =
  'The certificate of the server is not trusted: check the base URL, or name its authority in NODE_EXTRA_CA_CERTS.'
const TLS = 'Does the base URL begin with https where the server speaks http?'

/** Descriptions by error codes of Node; the first match counts. */
const TROUBLES: readonly (readonly [codes: RegExp, ...Trouble])[] = [
  [
    /^ECONNREFUSED$/,
    'network',
    'nothing answers at HOST',
    'Check that the server runs and that the base URL names its host and port.',
  ],
  [/^ENOTFOUND$/, 'network', 'there is no host HOST', 'Check the base URL and the connection to the network.'],
  [/^EAI_AGAIN$/, 'network', 'the name HOST cannot be looked up now'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'network', 'there is no network route to HOST'],
  // `Z_BUF_ERROR`: the compressed body is truncated.
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|Z_BUF_ERROR)$/, 'network', 'HOST closed the connection'],
  [/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout', 'HOST did not accept the connection in time'],
  [/^UND_ERR_HEADERS_TIMEOUT$/, 'timeout', 'HOST did not begin to answer in time'],
  [/^UND_ERR_BODY_TIMEOUT$/, 'timeout', 'HOST stopped sending'],
  [/^(?:UND_ERR_HEADERS|HPE_HEADER)_OVERFLOW$/, 'invalid_response', 'HOST sent more headers than fit', undefined, false],
  [/^CERT_HAS_EXPIRED$/, 'network', 'the certificate of HOST has expired', UNTRUSTED, false],
  [/^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT/, 'network', 'the certificate of HOST is self-signed', UNTRUSTED, false],
  [/^UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)/, 'network', 'the certificate of HOST cannot be verified', UNTRUSTED, false],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'network', 'the certificate of HOST is for another host', UNTRUSTED, false],
  [/^(?:ERR_SSL_WRONG_VERSION_NUMBER|EPROTO)$/, 'network', 'HOST does not speak TLS', TLS, false],
  // Errors of decompression and of HTTP parsing.
  [
    /^(?:Z_|ERR__?BROTLI|HPE_|ERR_ZSTD|ZSTD_)/,
    'invalid_response',
    'the answer of HOST does not match its headers',
    'Check the base URL, and any proxy on the way.',
  ],
]

const PORTS = 'Let the server listen at another port: https://fetch.spec.whatwg.org/#port-blocking'

/** Describes a request that could not be sent, or that got no answer. */
export function connectionError(thrown: unknown, peer: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const { message } = [...causes(thrown)].at(-1) ?? new Error(String(thrown))
  const other: Trouble =
    message === 'bad port'
      ? ['network', 'HOST has a port that fetch does not talk to', PORTS, false]
      : ['network', `HOST cannot be reached: ${message}`]
  return errorOf(trouble ?? other, code === undefined ? '' : ` (${code})`, peer, thrown)
}

/** Describes an answer that broke off. */
export function brokenOff(thrown: unknown, peer: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const by = code === undefined ? '' : ` (${code})`
  if (trouble !== undefined && trouble[0] !== 'network')
    return errorOf(trouble, ` in the middle of the answer${by}`, peer, thrown)
  const message = `${peer.provider}: the connection to ${peer.host} broke in the middle of the answer${by}.`
  return new CriaError('stream_interrupted', message, { cause: thrown })
}

function errorOf([code, words, hint, retryable]: Trouble, where: string, { provider, host }: Peer, cause: unknown): CriaError {
  return new CriaError(code, `${provider}: ${words.replace('HOST', () => host)}${where}.`, { cause, retryable, hint })
}

function find(thrown: unknown): { code?: string; trouble?: Trouble } {
  for (const error of causes(thrown)) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string') continue
    const found = TROUBLES.find(([codes]) => codes.test(code))
    if (found === undefined) continue
    const [, ...trouble] = found
    return { code, trouble }
  }
  return {}
}

/** Yields an error and its causes, outermost first. An `AggregateError` without a cause continues with its first error. */
export function* causes(thrown: unknown): Generator<Error, void, undefined> {
  const seen = new Set<unknown>()
  for (let error = thrown; error instanceof Error && !seen.has(error);) {
    seen.add(error)
    yield error
    error = error.cause ?? (error instanceof AggregateError ? (error.errors as unknown[])[0] : undefined)
  }
}

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.name === 'TimeoutError')
}

export function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code })
}
