import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { listens } from './listens.ts'

test('distinguishes open ports from closed ports', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(await listens(url, 1000)).toBe(true)
  await new Promise((resolve) => {
    server.close(resolve)
  })
  expect(await listens(url, 1000)).toBe(false)
  expect(await listens(new URL('http://host.invalid/'), 1000)).toBe(false)
})
