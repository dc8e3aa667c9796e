/**
 * Implements `fetch` over `node:http`, reduced to requests to models: without cookies and cache, and redirects are returned unfollowed. It loads
 * in a quarter of the time of the global `fetch`, which matters for a command that runs for a second.
 */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Answered, AnsweredBody, Fetch } from './send.ts'

/** Timeout of a connection in milliseconds, as in the global `fetch`. */
const CONNECT_MS = 10_000
/** Limit of buffered bytes, beyond which the stream is paused. */
const MOST_BYTES = 64 * 1024

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
  return answeredBy(await promise)
}

async function answeredBy(message: IncomingMessage): Promise<Answered> {
  // Added before the first await: an `error` event without a listener would end the process.
  message.on('error', () => {})
  const { statusCode: status = 0, headers } = message
  const texts = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return { status, ok: status >= 200 && status < 300, headers: new Map(texts), body: bodyOf(await decoded(message)) }
}

/** Decompresses the body: some servers compress it without being asked. */
async function decoded(message: IncomingMessage): Promise<Readable> {
  const encoding = message.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return message
  const [{ createBrotliDecompress, createGunzip, createInflate, createZstdDecompress }, { pipeline }] = await Promise.all([
    import('node:zlib'),
    import('node:stream'),
  ])
  const decoders = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
  }
  const create = Object.entries(decoders).find(([name]) => name === encoding)?.[1]
  return create === undefined ? message : pipeline(message, create(), () => {})
}

function bodyOf(stream: Readable): AnsweredBody {
  const pieces: Uint8Array[] = []
  let queued = 0
  let end: { readonly failure?: Error } | undefined
  let wake = (): void => {}
  const finish = (failure?: Error): void => {
    end ??= failure === undefined ? {} : { failure }
    wake()
  }
  stream.on('data', (piece: Uint8Array) => {
    pieces.push(piece)
    queued += piece.length
    if (queued >= MOST_BYTES) stream.pause()
    wake()
  })
  stream.once('end', () => finish())
  stream.once('error', finish)
  stream.once('close', () => finish(withCode('The connection was closed.', 'ECONNRESET')))
  const cancel = async (): Promise<void> => void stream.destroy()
  async function read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> {
    for (;;) {
      const value = pieces.shift()
      if (value !== undefined) {
        queued -= value.length
        if (stream.isPaused()) stream.resume()
        return { done: false, value }
      }
      if (end?.failure !== undefined) throw end.failure
      if (end !== undefined) return { done: true }
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return { cancel, getReader: () => ({ cancel, read }) }
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code })
}
