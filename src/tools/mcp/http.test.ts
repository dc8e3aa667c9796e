/** Servers over Streamable HTTP: real sockets, honest and hostile. */

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { callerOf } from '../../../test/support/tool-call.ts'
import { connectMcp } from './connect.ts'
import type { McpConnection } from './connect.ts'
import type { McpServerConfig } from './server-config.ts'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

interface Seen {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingMessage['headers']
}

type Answer = (message: Message, response: ServerResponse) => void

const servers: Server[] = []
const connections: McpConnection[] = []
afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()))
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** Starts a server with the given response to calls. */
async function mcp(call: Answer, seen: Seen[] = []): Promise<string> {
  return listen((request, response) => {
    seen.push({ method: request.method, path: request.url, headers: request.headers })
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
      const message = JSON.parse(body) as Message
      if (message.id === undefined) return response.writeHead(202).end()
      if (message.method === 'tools/call') return call(message, response)
      const result =
        message.method === 'initialize'
          ? {
              protocolVersion: message.params?.['protocolVersion'],
              capabilities: { tools: {} },
              serverInfo: { name: 'web', version: '1' },
            }
          : { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }
      json(response, { id: message.id, result }, { 'mcp-session-id': 'session-1' })
      return undefined
    })
  })
}

function json(response: ServerResponse, message: object, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
}

const said = (text: string): object => ({ content: [{ type: 'text', text }] })

async function connect(config: McpServerConfig, env: Readonly<Record<string, string>> = {}): Promise<McpConnection> {
  const connection = await connectMcp({ servers: { web: config }, env })
  connections.push(connection)
  return connection
}

describe('a server over HTTP', () => {
  it('answers calls with the configured headers, and its session is ended', async () => {
    const seen: Seen[] = []
    const url = await mcp(({ id }, response) => json(response, { id, result: said('Here.') }), seen)
    const connection = await connect(
      { type: 'http', url, headers: { authorization: 'Bearer ${TOKEN}' } },
      { TOKEN: 'abc-123456' },
    )
    expect(await callerOf(connection.tools)('mcp__web__ask', {})).toMatchObject({ content: 'Here.', isError: false })
    await connection.close()
    expect(seen.every(({ headers }) => headers.authorization === 'Bearer abc-123456')).toBe(true)
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST', 'DELETE'])
    expect(seen.at(-1)?.headers['mcp-session-id']).toBe('session-1')
  })

  it('answers as a stream', async () => {
    const url = await mcp(({ id }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: said('Streamed.') })}\n\n`)
    })
    const { tools } = await connect({ url })
    expect((await callerOf(tools)('mcp__web__ask', {})).content).toBe('Streamed.')
  })

  it('does not have its headers sent to another origin by a redirect', async () => {
    const stolen: Seen[] = []
    const other = await mcp(({ id }, response) => json(response, { id, result: said('Stolen.') }), stolen)
    const url = await listen((request, response) => {
      request.resume()
      response.writeHead(307, { location: other }).end()
    })
    const { tools, notices } = await connect({ url, headers: { 'x-api-key': 'canary-key' } })
    expect(tools).toEqual([])
    expect(stolen).toEqual([])
    expect(notices[0]?.message).toContain('it answered with HTTP 307 (Temporary Redirect): Redirect to')
  })

  it('is reported in a single line when it sends JSON that is not a message', async () => {
    const url = await listen((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":1}')
    })
    expect((await connect({ url })).notices[0]?.message).toBe(
      'The MCP server "web" cannot be used: it sent data that is not a message of the protocol.',
    )
  })

  it('fails the call when the stream ends without a response, and is reconnected', async () => {
    let calls = 0
    const url = await mcp(({ id }, response) => {
      if (++calls > 2) return json(response, { id, result: said('Back.') })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n')
      if (calls === 1) response.end()
      else setTimeout(() => response.destroy(), 20)
      return undefined
    })
    const { tools } = await connect({ url })
    const call = callerOf(tools)
    for (let count = 0; count < 2; count++) {
      const ended = await call('mcp__web__ask', {})
      expect(ended).toMatchObject({ isError: true, code: 'tool_failure' })
      expect(ended.content).toContain('the connection ended before the answer')
    }
    expect((await call('mcp__web__ask', {})).content).toBe('Back.')
  })

  it('is reconnected when it has dropped the session', async () => {
    const seen: Seen[] = []
    let calls = 0
    const url = await mcp(({ id }, response) => {
      if (++calls === 1) response.writeHead(404).end('Who are you?')
      else json(response, { id, result: said('Welcome back.') })
    }, seen)
    const { tools } = await connect({ url })
    const call = callerOf(tools)
    expect((await call('mcp__web__ask', {})).content).toContain('Who are you?')
    expect((await call('mcp__web__ask', {})).content).toBe('Welcome back.')
  })

  it('cannot exhaust the memory with a response', async () => {
    const piece = 'x'.repeat(1_000_000)
    const flood = (response: ServerResponse): void => {
      let left = 100
      const more = (): void => {
        while (left-- > 0) {
          if (!response.write(piece)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    for (const type of ['application/json', 'text/event-stream']) {
      const url = await mcp((_message, response) => {
        response.writeHead(200, { 'content-type': type })
        response.write(type === 'application/json' ? '{"jsonrpc":"2.0","x":"' : 'data: ')
        flood(response)
      })
      const { tools } = await connect({ url })
      expect((await callerOf(tools)('mcp__web__ask', {})).isError).toBe(true)
    }
  })

  it('does not have its key repeated in messages', async () => {
    const url = await listen((request, response) => {
      request.resume()
      response.writeHead(401).end(`The key ${String(request.headers['x-key'])} is wrong.`)
    })
    const { notices } = await connect({ url, headers: { 'x-key': 'canary-key-77' } })
    expect(notices[0]?.message).toContain('HTTP 401 (Unauthorized): The key [redacted] is wrong')
    expect(notices[0]?.message).toContain('Set `headers` of this server')
    expect(notices[0]?.message).not.toContain('canary-key-77')
  })

  it.each([
    [429, '', 'it answered with HTTP 429 (Too Many Requests).'],
    [500, '', 'it answered with HTTP 500 (Internal Server Error).'],
    [503, 'Back at noon', 'it answered with HTTP 503 (Service Unavailable): Back at noon.'],
    [599, '', 'it answered with HTTP 599.'],
  ])('is reported with its HTTP status: %d %j', async (status, body, problem) => {
    const url = await mcp((_message, response) => response.writeHead(status, { 'retry-after': '1' }).end(body))
    const { tools } = await connect({ url })
    expect((await callerOf(tools)('mcp__web__ask', {})).content).toBe(`The MCP server "web" cannot be used: ${problem}`)
  })

  it('is reported when it does not listen', async () => {
    const { notices } = await connect({ url: 'http://127.0.0.1:9/mcp' })
    expect(notices[0]?.message).toMatch(/The MCP server "web" cannot be used: fetch failed/)
  })
})
