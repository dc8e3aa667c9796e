/** Sends a request, and follows redirects only within the same origin, so that the key cannot leak. */

import { CriaError } from '../../core/error.ts'
import type { Peer } from './network.ts'
import { connectionError, isAbort } from './network.ts'

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
  readonly body: AnsweredBody | null
}
export interface AnsweredBody {
  cancel(): Promise<void>
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

const MAX_REDIRECTS = 5

/** @throws CriaError that names the host; rethrows aborts unchanged. */
export async function send(base: Fetch, url: string, init: Sent, peer: Peer): Promise<Answered> {
  let target = new URL(url)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await request(base, target, init, peer)
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null || location === undefined) return response
    void response.body?.cancel().catch(() => {})
    target = follow(target, location, response.status, peer)
  }
  throw new CriaError('invalid_response', `${peer.provider}: ${peer.host} redirected more than ${MAX_REDIRECTS} times.`, {
    retryable: false,
  })
}

async function request(base: Fetch, target: URL, init: Sent, peer: Peer): Promise<Answered> {
  try {
    return await base(target.href, init)
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
      hint: 'If the provider has moved there, set it as the base URL.',
    })
  if (to === undefined) throw refuse('to a location that is not a URL.')
  if (to.origin !== from.origin) throw refuse(`to ${to.origin}; it was not followed, because the key would be sent there.`)
  // The other redirects turn a POST into a GET, which models do not answer.
  if (status !== 307 && status !== 308) throw refuse(`to ${to.origin}${to.pathname}, which is not followed for a POST.`)
  return to
}
