import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
import { ByteSource } from './byte-source.ts'
import { httpFetch } from './http-fetch.ts'
import type { Answered } from './network.ts'

let close: (() => void) | undefined
afterEach(() => close?.())

async function ask(answer: RequestListener, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Answered> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  close = () => {
    server.closeAllConnections()
    server.close()
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1?a=b`
  const body = '{"text":"Grüße"}'
  return httpFetch(url, { method: 'POST', headers, body, redirect: 'manual', ...(signal === undefined ? {} : { signal }) })
}

/** Reads a body; returns its text and how it ended. */
async function textOf(answered: Answered): Promise<{ text: string; failure: unknown }> {
  const source = new ByteSource(answered)
  let text = ''
  try {
    for (let pieces = await source.read(); pieces !== undefined; pieces = await source.read())
      text += Buffer.concat(pieces).toString()
    return { text, failure: undefined }
  } catch (failure) {
    return { text, failure }
  }
}

it('sends method, path, headers and body, and returns status, headers and body', async () => {
  const answered = await ask(
    (request, response) => {
      let sent = ''
      request.setEncoding('utf8')
      request.on('data', (piece: string) => (sent += piece))
      request.on('end', () => {
        response.writeHead(404, { 'x-request-id': 'r1' })
        response.end(`${request.method} ${request.url} ${String(request.headers['x-key'])} ${sent}`)
      })
    },
    { 'x-key': 'k' },
  )
  expect(answered).toMatchObject({ status: 404, ok: false })
  expect(answered.headers.get('x-request-id')).toBe('r1')
  expect(Object.fromEntries(answered.headers)).toMatchObject({ 'x-request-id': 'r1' })
  expect(await textOf(answered)).toEqual({ text: 'POST /v1?a=b k {"text":"Grüße"}', failure: undefined })
})

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('decompresses %s that was not requested, and fails when it is truncated', async (encoding, compress) => {
  const bytes = compress(Buffer.from('data: {}\n\n'.repeat(1000)))
  const whole = await ask((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes))
  expect((await textOf(whole)).text).toHaveLength(10_000)
  close?.()
  const cut = await ask((_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(bytes.subarray(0, bytes.length - 4)),
  )
  expect((await textOf(cut)).failure).toMatchObject({ code: expect.stringMatching(/^(Z_BUF_ERROR|ZSTD_)/) as string })
})

it('follows no redirect', async () => {
  const answered = await ask((_, response) => response.writeHead(307, { location: '/elsewhere' }).end())
  expect(answered).toMatchObject({ status: 307, ok: false })
  expect(answered.headers.get('location')).toBe('/elsewhere')
})

it('returns the bytes before a broken connection, then the failure', async () => {
  const answered = await ask((_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('first;', () => response.write('second;', () => response.destroy()))
  })
  const { text, failure } = await textOf(answered)
  expect(text).toBe('first;second;')
  expect(failure).toMatchObject({ code: 'ECONNRESET' })
})

it('pauses the server for a slow reader without losing bytes', async () => {
  const size = 4 * 1024 * 1024
  const answered = await ask((_, response) => response.end('x'.repeat(size)))
  await new Promise(setImmediate)
  expect((await textOf(answered)).text).toHaveLength(size)
})

it('aborts with its signal, before the answer and within it', async () => {
  const before = new AbortController()
  const waiting = ask(() => before.abort(), {}, before.signal)
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  close?.()
  const within = new AbortController()
  const answered = await ask((_, response) => void response.writeHead(200).write('first'), {}, within.signal)
  const reading = textOf(answered)
  within.abort()
  expect((await reading).failure).toBeInstanceOf(Error)
})

it('rejects with the error code if the server does not run', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const asked = httpFetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: {}, body: '', redirect: 'manual' })
  await expect(asked).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

it('fails when the server switches the protocol', async () => {
  const changed = ask((request) =>
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  )
  await expect(changed).rejects.toMatchObject({ code: 'ECONNRESET' })
})
