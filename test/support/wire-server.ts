/** A server that answers with exactly these bytes, cut in exactly this way, for tests of what goes over a wire. */

import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Received {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The JSON that was sent; `undefined` when it was none. */
  readonly body: unknown
  /** The connection it came on, counted from 1. */
  readonly connection: number
}

export interface Reply {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Each piece is written for itself, and reaches the client before the next one is written. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[]
  /** What happens after the body. Default `end`; `before` resets the connection before anything is said. */
  readonly afterwards?: 'end' | 'reset' | 'hang' | 'before'
  /** Called again and again while the answer hangs and its client waits. */
  readonly whileHanging?: () => void
  /** Called when a piece of the body has left; the last time with `true`, when all of it has. */
  readonly onSent?: (all: boolean) => void
  /** Called when the client has closed the connection before the answer was complete. */
  readonly onAborted?: () => void
}

export interface WireServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly requests: readonly Received[]
  /** How many pieces of bodies have left. */
  readonly written: () => number
  /** Resolves when the client has closed a connection whose answer was not complete. */
  readonly aborted: () => Promise<void>
}

/** @param replies one for each request, the last for all that follow; or a function of the request. */
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
      // The bytes have to leave before the connection is cut.
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

/** Every way of cutting that matters: whole, byte by byte, and after each byte that a careless reader trips over. */
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
