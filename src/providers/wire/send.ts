/** Sends a request and follows redirects only where they cannot carry the key to somebody else. */

import { CriaError } from '../../core/error.ts'
import type { Peer } from './network.ts'
import { connectionError, isAbort } from './network.ts'

const MAX_REDIRECTS = 5

/** @throws CriaError that names the host, or the abort as it came. */
export async function send(base: typeof fetch, url: string, init: RequestInit, peer: Peer): Promise<Response> {
  let target = new URL(url)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await request(base, target, init, peer)
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) return response
    void response.body?.cancel().catch(() => {})
    target = follow(target, location, response.status, peer)
  }
  throw new CriaError('invalid_response', `${peer.provider}: ${peer.host} redirected more than ${MAX_REDIRECTS} times.`, {
    retryable: false,
  })
}

async function request(base: typeof fetch, target: URL, init: RequestInit, peer: Peer): Promise<Response> {
  try {
    return await base(target.href, { ...init, redirect: 'manual' })
  } catch (thrown) {
    throw isAbort(thrown) || init.signal?.aborted === true ? thrown : connectionError(thrown, peer)
  }
}

function follow(from: URL, location: string, status: number, { provider, host }: Peer): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  const refuse = (why: string): CriaError =>
    new CriaError('invalid_response', `${provider}: ${host} redirected (${status}) ${why}`, {
      status,
      retryable: false,
      hint: 'If that is where this provider lives now, set it as the base URL.',
    })
  if (to === undefined) throw refuse('to a place that is no URL.')
  if (to.origin !== from.origin) throw refuse(`to ${to.origin}; it was not followed, because the key would go along.`)
  // The other kinds turn the request into a GET, which is no request to a model.
  if (status !== 307 && status !== 308) throw refuse(`to ${to.origin}${to.pathname}, which is not followed for a POST.`)
  return to
}
