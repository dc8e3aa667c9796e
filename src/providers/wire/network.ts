/** Describes network failures in words that name the host. */

import { CriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'

/** Who is talked to. */
export interface Peer {
  /** Name of the provider: `openai`. */
  readonly provider: string
  /** `host:port`. */
  readonly host: string
}

interface Trouble {
  readonly code: ErrorCode
  /** What happened; `HOST` stands for the host. */
  readonly words: string
  /** What to do. */
  readonly hint?: string | undefined
  readonly retryable?: boolean
}

const network = (words: string, hint?: string): Trouble => ({ code: 'network', words, hint })
const late = (words: string): Trouble => ({ code: 'timeout', words })
const lasting = (words: string, hint: string): Trouble => ({ code: 'network', words, hint, retryable: false })
const untrusted = (what: string): Trouble =>
  lasting(
    `the certificate of HOST ${what}`,
    'The certificate of the server is not trusted: check the base URL, or name its authority in NODE_EXTRA_CA_CERTS.',
  )

const UNREACHABLE = network('there is no way to HOST')
const CLOSED = network('HOST closed the connection')
const NOT_ACCEPTED = late('HOST did not accept the connection in time')
const SELF_SIGNED = untrusted('is self-signed')
const NOT_VERIFIED = untrusted('cannot be verified')
const TOO_MANY_HEADERS: Trouble = { code: 'invalid_response', words: 'HOST sent more headers than fit', retryable: false }
const NOT_TLS = lasting('HOST does not speak TLS', 'Does the base URL begin with https where the server speaks http?')

/** By the code of an error of Node. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  ECONNREFUSED: network('nothing answers at HOST', 'Check that the server runs and that the base URL names its host and port.'),
  ENOTFOUND: network('there is no host HOST', 'Check the base URL and the connection to the network.'),
  EAI_AGAIN: network('the name HOST cannot be looked up now'),
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  // Compressed bytes end before their end.
  Z_BUF_ERROR: CLOSED,
  ETIMEDOUT: NOT_ACCEPTED,
  UND_ERR_CONNECT_TIMEOUT: NOT_ACCEPTED,
  UND_ERR_HEADERS_TIMEOUT: late('HOST did not begin to answer in time'),
  UND_ERR_BODY_TIMEOUT: late('HOST stopped sending'),
  UND_ERR_HEADERS_OVERFLOW: TOO_MANY_HEADERS,
  HPE_HEADER_OVERFLOW: TOO_MANY_HEADERS,
  CERT_HAS_EXPIRED: untrusted('has expired'),
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_VERIFIED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_VERIFIED,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted('is for another host'),
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  EPROTO: NOT_TLS,
}

const GARBLED: Trouble = {
  code: 'invalid_response',
  words: 'the answer of HOST is not what its headers say',
  hint: 'Check the base URL, and the proxy in between.',
}

const BLOCKED = lasting(
  'HOST has a port that fetch does not talk to',
  'Let the server listen at another port: https://fetch.spec.whatwg.org/#port-blocking',
)

/** The request could not be sent, or no answer to it began. */
export function connectionError(thrown: unknown, peer: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const { message } = innermost(thrown)
  const known = message === 'bad port' ? BLOCKED : (trouble ?? network(`HOST cannot be reached: ${message}`))
  return errorOf(known, code === undefined ? '' : ` (${code})`, peer, thrown)
}

/** The answer had begun and broke off. */
export function brokenOff(thrown: unknown, peer: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const { provider, host } = peer
  if (trouble !== undefined && trouble.code !== 'network')
    return errorOf(trouble, ` in the middle of the answer (${code})`, peer, thrown)
  const by = code === undefined ? '' : ` (${code})`
  const message = `${provider}: the connection to ${host} broke in the middle of the answer${by}.`
  return new CriaError('stream_interrupted', message, { cause: thrown })
}

function errorOf({ code, words, retryable, hint }: Trouble, where: string, { provider, host }: Peer, cause: unknown): CriaError {
  return new CriaError(code, `${provider}: ${words.replace('HOST', () => host)}${where}.`, { cause, retryable, hint })
}

function find(thrown: unknown): { code?: string; trouble?: Trouble } {
  for (const error of causes(thrown)) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string') continue
    // Decompression and HTTP parsing have a family of codes each.
    const trouble = TROUBLES[code] ?? (/^(Z_|ERR__?BROTLI|HPE_|ERR_ZSTD|ZSTD_)/.test(code) ? GARBLED : undefined)
    if (trouble !== undefined) return { code, trouble }
  }
  return {}
}

/** An error, what caused it, and so on; a lookup of several addresses counts as its first failure. */
export function* causes(thrown: unknown): Generator<Error, void, undefined> {
  const seen = new Set<unknown>()
  for (let error = thrown; error instanceof Error && !seen.has(error);) {
    seen.add(error)
    yield error
    error = error.cause ?? (error instanceof AggregateError ? (error.errors as unknown[])[0] : undefined)
  }
}

function innermost(thrown: unknown): Error {
  return [...causes(thrown)].at(-1) ?? new Error(String(thrown))
}

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.name === 'TimeoutError')
}
