import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
let server: Server | undefined
beforeEach(() => {
  place = newPlace()
  place.write({ 'docs/llamas.md': 'A young llama is called a cria.' })
})
afterEach(() => {
  place[Symbol.dispose]()
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

async function collector(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>,
): Promise<string> {
  const listening = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void answer(request, response, Buffer.concat(chunks).toString()))
  })
  server = listening
  await new Promise<void>((resolve) => {
    listening.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

const ask = (endpoint: string): ReturnType<Place['run']> =>
  place.run(['ask', 'What is a young llama called?', '--docs', 'docs'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })

test('REC-SPAN-001 a command waits until the collector has its spans', async () => {
  const seen: { path: string | undefined; body: string; wasGone: boolean }[] = []
  const endpoint = await collector(async ({ url, socket }, response, body) => {
    let wasGone = false
    socket.on('close', () => (wasGone = true))
    // Longer than a command would run without waiting.
    await setTimeout(600)
    seen.push({ path: url, body, wasGone })
    response.end('{}')
  })
  const { code, stdout } = await ask(endpoint)
  expect(code).toBe(0)
  expect(stdout).toContain('A young llama is called a cria.')
  expect(seen).toEqual([{ path: '/v1/traces', body: expect.stringContaining('"querybot.ask"') as string, wasGone: false }])
})

test('REC-SPAN-001 an unresponsive or missing collector changes neither answer nor exit code', async () => {
  const hanging = await collector(() => Promise.resolve())
  for (const endpoint of [hanging, 'http://127.0.0.1:9']) {
    const { code, stdout } = await ask(endpoint)
    expect(code).toBe(0)
    expect(stdout).toContain('A young llama is called a cria.')
  }
})
