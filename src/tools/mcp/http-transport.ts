/** Connects to a server over Streamable HTTP, with limits on sizes, and without a permanently open stream. */

import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { MAX_MESSAGE } from './stdio-transport.ts'

/** Maximum attempts to resume a broken stream, and minimum milliseconds before each; the server may ask for more. */
const MAX_RECONNECTIONS = 5
const LEAST_WAIT = 500

/** Error code of a request whose stream ended without a response; not a code of the protocol. */
export const STREAM_ENDED = -32_999

export function httpTransport(
  sdk: typeof import('@modelcontextprotocol/client'),
  url: URL,
  headers: Readonly<Record<string, string>>,
): StreamableHTTPClientTransport {
  let reconnections = 0
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    // Refuses redirects to another origin, because headers may hold a key.
    redirectPolicy: 'same-origin',
    fetch: boundedFetch,
    reconnectionScheduler(reconnect, delay) {
      if (++reconnections > MAX_RECONNECTIONS) return undefined
      const timer = setTimeout(reconnect, Math.max(LEAST_WAIT, delay))
      return () => clearTimeout(timer)
    },
  })
  // Without this the client would wait until the request times out.
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
  // Declines the stream of unsolicited messages, which is optional in the protocol and not used here.
  if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')) return new Response(null, { status: 405 })
  const response = await fetch(input, init)
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  const { status, statusText, headers } = response
  const bounded = new Response(response.body.pipeThrough(limit(isStream)), { status, statusText, headers })
  Object.defineProperty(bounded, 'url', { value: response.url })
  return bounded
}

/** Fails when a body, or an event of a stream, is too large. An event ends with an empty line. */
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
