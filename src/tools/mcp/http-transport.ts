/** Talks to a server over Streamable HTTP: bounded, and without a stream that stays open while nothing is asked. */

import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MAX_MESSAGE } from './stdio-transport.ts'

/** Attempts to take up a stream again that broke, and milliseconds before each at least: the server names the wait. */
const MAX_RECONNECTIONS = 5
const LEAST_WAIT = 500

/** The code of the error that a request gets whose stream ended without its answer; none of the protocol's. */
export const STREAM_ENDED = -32_999

export function httpTransport(
  sdk: typeof import('@modelcontextprotocol/client'),
  url: URL,
  headers: Readonly<Record<string, string>>,
): StreamableHTTPClientTransport {
  let reconnections = 0
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    // A redirect to another origin is an error: headers may hold a key.
    redirectPolicy: 'same-origin',
    fetch: boundedFetch,
    reconnectionScheduler(reconnect, delay) {
      if (++reconnections > MAX_RECONNECTIONS) return undefined
      const timer = setTimeout(reconnect, Math.max(LEAST_WAIT, delay))
      return () => clearTimeout(timer)
    },
  })
  // The client would wait until the request has had its time.
  const send = transport.send.bind(transport)
  transport.send = (message: JSONRPCMessage, options) =>
    send(message, {
      ...options,
      onRequestStreamEnd() {
        options?.onRequestStreamEnd?.()
        if (!('id' in message) || message.id === undefined) return
        const error = { code: STREAM_ENDED, message: 'the connection ended before the answer' }
        transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error })
      },
    })
  return transport
}

async function boundedFetch(input: string | URL, init?: RequestInit): Promise<Response> {
  // The stream for what nobody asked for. Servers have to live without it; we have nothing to do with what would come.
  if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')) return new Response(null, { status: 405 })
  const response = await fetch(input, init)
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  const { status, statusText, headers } = response
  const bounded = new Response(response.body.pipeThrough(limit(isStream)), { status, statusText, headers })
  Object.defineProperty(bounded, 'url', { value: response.url })
  return bounded
}

/** Ends with an error when a body, or one event of a stream, is too large. An event ends with an empty line. */
function limit(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  let atLineStart = false
  return new TransformStream({
    transform(piece, controller) {
      if (!isStream) length += piece.length
      else {
        for (const byte of piece) {
          length++
          if (byte === 10) {
            if (atLineStart) length = 0
            atLineStart = true
          } else if (byte !== 13) atLineStart = false
        }
      }
      if (length > MAX_MESSAGE) controller.error(new Error(`The server sent more than ${MAX_MESSAGE / 1_000_000} MB at once.`))
      else controller.enqueue(piece)
    },
  })
}
