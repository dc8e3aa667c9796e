import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, it } from 'vitest'
import { ByteSource } from './byte-source.ts'

it.each([
  ['a length', (bytes: number) => `content-length: ${bytes}\r\n`],
  ['the end of the connection', () => ''],
])('an answer that ends with %s is complete, and the process survives, if the server has closed before', async (_, header) => {
  // Fits into the buffers of the connection, but not into those of the reader.
  for (const bytes of [100_000, 200_000, 300_000]) {
    const text = 'x'.repeat(bytes)
    const server = createServer((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n${header(bytes)}\r\n${text}`)),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const connected = once(server, 'connection') as Promise<[Socket]>
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const source = new ByteSource(response)
    const [socket] = await connected
    if (!socket.closed) await once(socket, 'close')
    expect(await source.text(bytes)).toBe(text)
    server.close()
  }
})

it('returns the bytes before a broken connection even to a slow reader', async () => {
  const server = createServer((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
      const pieces = Array.from({ length: 20 }, (_, index) => `piece${index};`)
      const next = (): void => {
        const piece = pieces.shift()
        if (piece === undefined) socket.destroy()
        else socket.write(piece, () => setImmediate(next))
      }
      next()
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = once(server, 'connection') as Promise<[Socket]>
  const source = new ByteSource(await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
  const [socket] = await connected
  if (!socket.closed) await once(socket, 'close')
  let text = ''
  const readAll = async (): Promise<void> => {
    for (let pieces = await source.read(); pieces !== undefined; pieces = await source.read()) {
      text += Buffer.concat(pieces).toString()
      // Simulates a reader that processes each piece.
      await new Promise(setImmediate)
    }
  }
  await expect(readAll()).rejects.toThrow(/terminated|socket|closed/)
  expect(text).toMatch(/^piece0;.*piece19;$/)
  server.close()
})

it('returns the first piece at once, later ones together within the hold, and never waits beyond the end', async () => {
  let pieces: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (pieces = controller) })
  const source = new ByteSource(new Response(body))
  const A_MINUTE = 60_000
  const textOf = async (holdMs: number): Promise<string | undefined> => {
    const read = await source.read(holdMs)
    return read === undefined ? undefined : Buffer.concat(read).toString()
  }
  const send = (text: string): void => pieces?.enqueue(Buffer.from(text))

  send('first')
  expect(await textOf(A_MINUTE)).toBe('first')
  send('second')
  expect(await textOf(1)).toBe('second')
  send('third')
  expect(await textOf(0)).toBe('third')
  const held = textOf(A_MINUTE)
  send('one, ')
  send('two')
  pieces?.close()
  expect(await held).toBe('one, two')
  expect(await textOf(A_MINUTE)).toBeUndefined()
})

it('ends a hold when the source is closed', async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from('first')) })
  const source = new ByteSource(new Response(body))
  await source.read()
  const held = source.read(60_000)
  source.close()
  expect(await held).toBeUndefined()
})

it('detects the kind after more white space than it keeps', async () => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let n = 0; n < 10; n++) controller.enqueue(Buffer.from(' \r\n'.repeat(10_000)))
      controller.enqueue(Buffer.from(' data: {}\n\n'))
      controller.close()
    },
  })
  const source = new ByteSource(new Response(body, { headers: { 'transfer-encoding': 'chunked' } }))
  expect(await source.kind()).toBe('events')
  expect(await source.text(1000)).toBe('data: {}\n\n')
})

it('detects the kind after white space in the same piece, even if the white space fills the queue', async () => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of [`${' '.repeat(100_000)}da`, 'ta: {}\n\n']) controller.enqueue(Buffer.from(piece))
      controller.close()
    },
  })
  const source = new ByteSource(new Response(body, { headers: { 'transfer-encoding': 'chunked' } }))
  expect(await source.kind()).toBe('events')
  expect(await source.text(1000)).toBe('data: {}\n\n')
})
