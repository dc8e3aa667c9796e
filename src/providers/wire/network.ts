/** Converts network failures to errors that name the host. */

import { CriaError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'

/** The server that receives a request. */
export interface Peer {
  /** Name of the provider: `openai`. */
  readonly provider: string
  /** `host:port`. */
  readonly host: string
}

interface Trouble {
  readonly code: ErrorCode
  /** What happened; `HOST` is replaced by the host. */
  readonly words: string
  /** What to do. */
  readonly hint?: string | undefined
  readonly retryable?: boolean
}

function network(words: string, hint?: string): Trouble {
  return { code: 'network', words, hint }
}

function lasting(words: string, hint?: string): Trouble {
  return { code: 'network', words, hint, retryable: false }
}

function untrusted(what: string): Trouble {
  const hint = 'The certificate of the server is not trusted: check the base URL, or name its authority in NODE_EXTRA_CA_CERTS.'
  return lasting(`the certificate of HOST ${what}`, hint)
}

/** Descriptions by error code of Node. */
const TROUBLES = new Map<string, Trouble>(
  Object.entries({
    ECONNREFUSED: network('nothing answers at HOST', 'Check that the server runs and that the base URL names its host and port.'),
    ENOTFOUND: network('there is no host HOST', 'Check the base URL and the connection to the network.'),
    EAI_AGAIN: network('the name HOST cannot be looked up now'),
    'EHOSTUNREACH ENETUNREACH': network('there is no network route to HOST'),
    // `Z_BUF_ERROR`: the compressed body is truncated.
    'ECONNRESET EPIPE UND_ERR_SOCKET Z_BUF_ERROR': network('HOST closed the connection'),
    'ETIMEDOUT UND_ERR_CONNECT_TIMEOUT': { code: 'timeout', words: 'HOST did not accept the connection in time' },
    UND_ERR_HEADERS_TIMEOUT: { code: 'timeout', words: 'HOST did not begin to answer in time' },
    UND_ERR_BODY_TIMEOUT: { code: 'timeout', words: 'HOST stopped sending' },
    'UND_ERR_HEADERS_OVERFLOW HPE_HEADER_OVERFLOW': {
      code: 'invalid_response',
      words: 'HOST sent more headers than fit',
      retryable: false,
    },
    CERT_HAS_EXPIRED: untrusted('has expired'),
    'DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN': untrusted('is self-signed'),
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY': untrusted('cannot be verified'),
    ERR_TLS_CERT_ALTNAME_INVALID: untrusted('is for another host'),
    'ERR_SSL_WRONG_VERSION_NUMBER EPROTO': lasting(
      'HOST does not speak TLS',
      'Does the base URL begin with https where the server speaks http?',
    ),
  } satisfies Record<string, Trouble>).flatMap(([codes, trouble]) => codes.split(' ').map((code) => [code, trouble] as const)),
)

const GARBLED: Trouble = {
  code: 'invalid_response',
  words: 'the answer of HOST does not match its headers',
  hint: 'Check the base URL, and any proxy on the way.',
}

const BLOCKED = lasting(
  'HOST has a port that fetch does not talk to',
  'Let the server listen at another port: https://fetch.spec.whatwg.org/#port-blocking',
)

/** Describes a request that could not be sent, or that got no answer. */
export function connectionError(thrown: unknown, peer: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const { message } = [...causes(thrown)].at(-1) ?? new Error(String(thrown))
  const known = message === 'bad port' ? BLOCKED : (trouble ?? network(`HOST cannot be reached: ${message}`))
  return errorOf(known, code === undefined ? '' : ` (${code})`, peer, thrown)
}

/** Describes an answer that broke off. */
export function brokenOff(thrown: unknown, peer: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const by = code === undefined ? '' : ` (${code})`
  if (trouble !== undefined && trouble.code !== 'network')
    return errorOf(trouble, ` in the middle of the answer${by}`, peer, thrown)
  const message = `${peer.provider}: the connection to ${peer.host} broke in the middle of the answer${by}.`
  return new CriaError('stream_interrupted', message, { cause: thrown })
}

function errorOf({ code, words, retryable, hint }: Trouble, where: string, { provider, host }: Peer, cause: unknown): CriaError {
  return new CriaError(code, `${provider}: ${words.replace('HOST', () => host)}${where}.`, { cause, retryable, hint })
}

function find(thrown: unknown): { code?: string; trouble?: Trouble } {
  for (const error of causes(thrown)) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string') continue
    // The errors of decompression and of HTTP parsing have many codes with common prefixes.
    const trouble = TROUBLES.get(code) ?? (/^(Z_|ERR__?BROTLI|HPE_|ERR_ZSTD|ZSTD_)/.test(code) ? GARBLED : undefined)
    if (trouble !== undefined) return { code, trouble }
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
