import { expect, it, vi } from 'vitest'
import { connectMcp } from './connect.ts'

it('a missing package is named, with how to install it, before anything is started', async () => {
  vi.doMock('@modelcontextprotocol/client', () => {
    throw new Error('Cannot find package')
  })
  await expect(connectMcp({ servers: { a: { command: 'cat' } } })).rejects.toMatchObject({
    code: 'configuration',
    message: expect.stringContaining('@modelcontextprotocol/client'),
    hint: 'npm install @modelcontextprotocol/client',
  })
  // Without servers the package is not needed.
  expect((await connectMcp({ servers: { a: { command: 'cat', disabled: true } } })).tools).toEqual([])
})
