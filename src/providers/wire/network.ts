/** What goes wrong between here and the provider, in words that name the host. */

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
  readonly words: (host: string) => string
  readonly retryable?: boolean
  readonly hint?: string
}

const CERTIFICATE =
  'The certificate of the server is not trusted: check the base URL, or name its authority in NODE_EXTRA_CA_CERTS.'

const closed: Trouble = { code: 'network', words: (host) => `${host} closed the connection` }
const unreachable: Trouble = { code: 'network', words: (host) => `there is no way to ${host}` }
const late: Trouble = { code: 'timeout', words: (host) => `${host} did not accept the connection in time` }
const untrusted = (what: string): Trouble => ({
  code: 'network',
  words: (host) => `the certificate of ${host} ${what}`,
  retryable: false,
  hint: CERTIFICATE,
})
const notTls: Trouble = {
  code: 'network',
  words: (host) => `${host} does not speak TLS`,
  retryable: false,
  hint: 'Does the base URL begin with https where the server speaks http?',
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  ECONNREFUSED: {
    code: 'network',
    words: (host) => `nothing answers at ${host}`,
    hint: 'Check that the server runs and that the base URL names its host and port.',
  },
  ENOTFOUND: {
    code: 'network',
    words: (host) => `there is no host ${host}`,
    hint: 'Check the base URL and the connection to the network.',
  },
  EAI_AGAIN: { code: 'network', words: (host) => `the name ${host} cannot be looked up now` },
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  ETIMEDOUT: late,
  UND_ERR_CONNECT_TIMEOUT: late,
  UND_ERR_HEADERS_TIMEOUT: { code: 'timeout', words: (host) => `${host} did not begin to answer in time` },
  UND_ERR_BODY_TIMEOUT: { code: 'timeout', words: (host) => `${host} stopped sending` },
  UND_ERR_HEADERS_OVERFLOW: { code: 'invalid_response', words: (host) => `${host} sent more headers than fit`, retryable: false },
  CERT_HAS_EXPIRED: untrusted('has expired'),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted('is self-signed'),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted('is self-signed'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted('cannot be verified'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted('cannot be verified'),
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted('is for another host'),
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  EPROTO: notTls,
}

const GARBLED: Trouble = {
  code: 'invalid_response',
  words: (host) => `the answer of ${host} is not what its headers say`,
  hint: 'Check the base URL, and the proxy in between.',
}

const BLOCKED: Trouble = {
  code: 'network',
  words: (host) => `${host} has a port that fetch does not talk to`,
  retryable: false,
  hint: 'Let the server listen at another port: https://fetch.spec.whatwg.org/#port-blocking',
}

/** The request could not be sent, or no answer to it began. */
export function connectionError(thrown: unknown, { provider, host }: Peer): CriaError {
  const { code, trouble } = find(thrown)
  const blocked = innermost(thrown).message === 'bad port'
  const known = (blocked ? BLOCKED : trouble) ?? {
    code: 'network' as const,
    words: () => `${host} cannot be reached: ${innermost(thrown).message}`,
  }
  return new CriaError(
    known.code,
    `${provider}: ${known.words(host)}${code === undefined ? '' : ` (${code})`}.`,
    options(known, thrown),
  )
}

/** The answer had begun and broke off. */
export function brokenOff(thrown: unknown, { provider, host }: Peer): CriaError {
  const { code, trouble } = find(thrown)
  if (trouble !== undefined && trouble.code !== 'network') {
    return new CriaError(
      trouble.code,
      `${provider}: ${trouble.words(host)} in the middle of the answer (${code}).`,
      options(trouble, thrown),
    )
  }
  return new CriaError(
    'stream_interrupted',
    `${provider}: the connection to ${host} broke in the middle of the answer${code === undefined ? '' : ` (${code})`}.`,
    { cause: thrown },
  )
}

function options({ retryable, hint }: Trouble, cause: unknown): { retryable?: boolean; hint?: string; cause: unknown } {
  return { cause, ...(retryable === undefined ? {} : { retryable }), ...(hint === undefined ? {} : { hint }) }
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
