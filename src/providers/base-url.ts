/** Where a provider is reached: what users have in their environment, brought to one form. */

import { ConfigurationError } from '../core/error.ts'

/**
 * @param source what the URL was read from, for the message: `OPENAI_BASE_URL`.
 * @param version appended when the path does not end in a version (`/v1`, `/v1beta`): some tools want the variable with it, some without.
 * @throws ConfigurationError when it is no http(s) URL, or holds a name and a password.
 */
export function normalizeBaseUrl(given: string, source: string, version?: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ConfigurationError(
      `${source} must be a URL that begins with http:// or https://, but is ${JSON.stringify(withoutUserInfo(given))}.`,
    )
  }
  // In a path they come from a slash in the password, or from a scheme that stands in the place of the host.
  if (url.username !== '' || url.password !== '' || /:[^@]*@/.test(url.pathname)) {
    throw new ConfigurationError(
      `${source} must not hold a name and a password (${JSON.stringify(withoutUserInfo(given))}): no request can be sent to such a URL. Send them as a header.`,
    )
  }
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = version === undefined || /\/v\d+\w*$/.test(path) ? path : `${path}/${version}`
  return url.href.replace(/\/$/, '')
}

const OLLAMA_PORT = 11434

/**
 * Base URL of Ollama's OpenAI-compatible API. `OLLAMA_HOST` may be a host, a port (`:11434`), both, or a URL; an address that servers listen on
 * (`0.0.0.0`) is reached at the loopback address.
 * @throws ConfigurationError when it is none of these.
 */
export function ollamaBaseUrl(host: string | undefined): string {
  const given = (host ?? '').trim() || '127.0.0.1'
  const isUrl = given.includes('://')
  const url = isUrl ? given : `http://${given.startsWith(':') ? '127.0.0.1' : ''}${given}`
  const base = new URL(normalizeBaseUrl(url, 'OLLAMA_HOST', 'v1'))
  if (base.hostname === '0.0.0.0' || base.hostname === '[::]') base.hostname = '127.0.0.1'
  const hasPort = /:\d+(?:[/?#]|$)/.test(given.replace(/^\w+:\/\//, ''))
  if (!hasPort && !isUrl) base.port = String(OLLAMA_PORT)
  if (!hasPort && isUrl && base.protocol === 'http:') base.port = String(OLLAMA_PORT)
  return base.href.replace(/\/$/, '')
}

/** In what is no proper URL a password may stand anywhere before the last `@`; an address that loses more than that can still be recognised. */
function withoutUserInfo(url: string): string {
  return url.replace(/^(\w+:\/\/)?.*(?=@|%40)/s, '$1…')
}
