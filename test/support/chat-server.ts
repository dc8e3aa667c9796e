/** Serves OpenAI's Chat Completions, for tests that need a provider over HTTP. */

import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ChatServer extends AsyncDisposable {
  /** Value for `OPENAI_COMPATIBLE_BASE_URL`. */
  readonly url: string
  /** Bodies of the requests, in order. */
  readonly requests: readonly string[]
  /** Number of connections that the client closed before the answer was complete. */
  readonly aborted: () => number
}

export type Reply = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>

export async function chatServer(reply: Reply): Promise<ChatServer> {
  const requests: string[] = []
  let aborted = 0
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => {
      body += piece
    })
    request.on('end', () => {
      requests.push(body)
      void reply(response, request)
    })
    response.on('close', () => {
      if (!response.writableEnded) aborted++
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    aborted: () => aborted,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}

export function sendDelta(response: ServerResponse, content: string): void {
  sendEvent(response, { choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })
}

export function endStream(response: ServerResponse, finishReason = 'stop'): void {
  sendEvent(response, {
    choices: [{ index: 0, delta: {}, finish_reason: finishReason }],
    usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
  })
  response.end('data: [DONE]\n\n')
}

function sendEvent(response: ServerResponse, body: object): void {
  const event = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test', ...body }
  response.write(`data: ${JSON.stringify(event)}\n\n`)
}

/** Streams these deltas and finishes. */
export function answer(...deltas: readonly string[]): Reply {
  return (response) => {
    startStream(response)
    for (const delta of deltas) sendDelta(response, delta)
    endStream(response)
  }
}

export function refuse(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message, type: 'test', code: null } }))
  }
}
