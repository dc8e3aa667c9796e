import { afterEach, expect, it } from 'vitest'
import { wireServer } from '../../../test/support/wire-server.ts'
import type { WireServer } from '../../../test/support/wire-server.ts'
import { createModel, query } from '../../index.ts'

let server: WireServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
})

interface Sent {
  readonly max_tokens: number
  readonly thinking?: { readonly type: string; readonly budget_tokens: number }
}

async function sent(maxOutputTokens: number | undefined, model = 'claude-sonnet-4-5'): Promise<Sent> {
  server = await wireServer([{ status: 400, headers: { 'content-type': 'application/json' }, body: '{}' }])
  await Array.fromAsync(
    query({
      prompt: 'Is it?',
      model: createModel(`anthropic/${model}`, { baseURL: server.url, apiKey: 'sk-ant-test' }),
      enableThinking: 'high',
      retry: { maxRetries: 0 },
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    }),
  )
  return server.requests[0]?.body as Sent
}

it.each([
  [50_000, 38_400],
  [3000, 2400],
  [1300, 1040],
])('ENG-THINK-001 a limit of %i includes thinking and answer', async (limit, budget) => {
  expect(await sent(limit)).toMatchObject({ max_tokens: limit, thinking: { type: 'enabled', budget_tokens: budget } })
})

it('ENG-THINK-001 a limit that is too small leaves thinking out', async () => {
  const { max_tokens: limit, thinking } = await sent(1000)
  expect([limit, thinking]).toEqual([1000, undefined])
})

it('ENG-THINK-001 without a limit a default is sent', async () => {
  const { max_tokens: limit, thinking } = await sent(undefined)
  expect(thinking?.budget_tokens).toBeLessThan(limit)
})
