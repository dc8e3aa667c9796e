/**
 * Implements `fetch` over `node:http`, reduced to requests to models: without cookies and cache, and redirects are returned unfollowed. It loads
 * in a quarter of the time of the global `fetch`, which matters for a command that runs for a second.
 */

import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import type { Fetch } from './network.ts'
import { withCode } from './network.ts'

/** Timeout of a connection in milliseconds, as in the global `fetch`. */
const CONNECT_MS = 10_000

export const httpFetch: Fetch = async (url, { method, headers, body, signal }) => {
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const bytes = Buffer.from(body)
  const sent = request(
    url,
    {
      method,
      headers: { accept: '*/*', 'accept-encoding': 'identity', ...headers, 'content-length': String(bytes.length) },
      ...(signal === undefined ? {} : { signal }),
    },
    resolve,
  )
  sent.on('error', reject)
  // A response that switches the protocol (101) closes the connection without an error.
  sent.on('close', () => reject(withCode('The connection was closed.', 'ECONNRESET')))
  sent.on('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => sent.destroy(withCode('The connection was not accepted in time.', 'ETIMEDOUT')), CONNECT_MS)
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
  })
  sent.end(bytes)
  const message = await promise
  // Added before the next await: an `error` event without a listener would end the process.
  message.on('error', () => {})
  const { statusCode: status = 0 } = message
  const texts = Object.entries(message.headers).map(([name, value]): [string, string] => [name, String(value)])
  return { status, ok: status >= 200 && status < 300, headers: new Map(texts), body: await decoded(message) }
}

/** Decompresses the body: some servers compress it without being asked. */
async function decoded(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return message
  const [zlib, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream')])
  const decoders = new Map<string, () => Transform>([
    ['gzip', zlib.createGunzip],
    ['x-gzip', zlib.createGunzip],
    ['deflate', zlib.createInflate],
    ['br', zlib.createBrotliDecompress],
    ['zstd', zlib.createZstdDecompress],
  ])
  const create = decoders.get(encoding)
  return create === undefined ? message : pipeline(message, create(), () => {})
}
