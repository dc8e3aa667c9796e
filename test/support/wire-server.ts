/** Serves exact bytes in exact pieces, for tests of wire formats. */

import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Received {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Body as JSON; `undefined` if it was not JSON. */
  readonly body: unknown
  /** Number of its connection, from 1. */
  readonly connection: number
}

export interface Reply {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Pieces of the body; each reaches the client before the next is written. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[]
  /** Action after the body. Default `end`; `before` resets the connection before the response. */
  readonly afterwards?: 'end' | 'reset' | 'hang' | 'before'
  /** Called repeatedly while the answer hangs and its client waits. */
  readonly whileHanging?: () => void
  /** Called when a piece of the body was sent; for the last one with `true`. */
  readonly onSent?: (all: boolean) => void
  /** Called when the client has closed the connection before the answer was complete. */
  readonly onAborted?: () => void
}

export interface WireServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly requests: readonly Received[]
  /** Number of pieces sent. */
  readonly written: () => number
  /** Resolves when the client has closed a connection whose answer was not complete. */
  readonly aborted: () => Promise<void>
}

/** @param replies one for each request, of which the last repeats, or a function of the request. */
export async function wireServer(replies: readonly Reply[] | ((request: Received) => Reply)): Promise<WireServer> {
  const requests: Received[] = []
  let written = 0
  const connections = new Map<Socket, number>()
  const aborted = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    response.on('close', () => {
      if (!response.writableEnded) aborted.resolve()
    })
    request.on('end', () => {
      const received: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: parse(Buffer.concat(pieces).toString()),
        connection: connections.get(request.socket) ?? 0,
      }
      requests.push(received)
      const reply = typeof replies === 'function' ? replies(received) : (replies[requests.length - 1] ?? replies.at(-1) ?? {})
      response.on('close', () => {
        if (!response.writableEnded) reply.onAborted?.()
      })
      void answer(reply)
    })

    async function answer(reply: Reply): Promise<void> {
      const { status = 200, headers = {}, body = '', afterwards = 'end', whileHanging, onSent } = reply
      if (afterwards === 'before') {
        request.socket.resetAndDestroy()
        return
      }
      response.writeHead(status, { 'content-type': 'text/event-stream', ...headers })
      response.flushHeaders()
      for (const piece of typeof body === 'string' || body instanceof Uint8Array ? [body] : body) {
        await new Promise<void>((resolve) => {
          response.write(piece, () => {
            written++
            onSent?.(false)
            setImmediate(resolve)
          })
        })
        if (response.destroyed) return
      }
      onSent?.(true)
      if (afterwards === 'hang' && whileHanging !== undefined) {
        const timer = setInterval(whileHanging, 5)
        response.once('close', () => clearInterval(timer))
      }
      if (afterwards === 'end') response.end()
      // The bytes must be sent before the connection is reset.
      else if (afterwards === 'reset') setTimeout(() => request.socket.resetAndDestroy(), 20)
    }
  })
  server.on('connection', (socket) => connections.set(socket, connections.size + 1))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    written: () => written,
    aborted: () => aborted.promise,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Ways to cut a body: whole, byte by byte, and after each byte that parsers commonly mishandle. */
export const CUTS: Readonly<Record<string, (text: string) => Uint8Array[]>> = {
  whole: (text) => [Buffer.from(text)],
  'byte by byte': (text) => [...Buffer.from(text)].map((byte) => Buffer.from([byte])),
  'after CR, LF, colon and inside characters': (text) => {
    const bytes = Buffer.from(text)
    const pieces: Uint8Array[] = []
    let from = 0
    bytes.forEach((byte, index) => {
      if (byte === 13 || byte === 10 || byte === 58 || byte >= 0x80) pieces.push(bytes.subarray(from, (from = index + 1)))
    })
    return [...pieces, bytes.subarray(from)]
  },
}
