import { afterEach, expect, test } from 'vitest'
import { createModel } from '../../src/app/models.ts'
import { query } from '../../src/app/query.ts'
import { foldEvents } from '../../src/core/fold.ts'
import type { QueryEvent } from '../../src/core/event.ts'
import { APIS } from '../support/answers.ts'
import { wireServer } from '../support/wire-server.ts'
import type { WireServer } from '../support/wire-server.ts'

let server: WireServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

test('ENG-ERR-005 an answer that its provider restarts in the same stream is reset, without a second request', async () => {
  const api = APIS.find(({ provider }) => provider === 'anthropic')
  const first = api?.stream({ text: 'The first try' }).replaceAll('msg_1', 'msg_0').split('event: content_block_stop')[0] ?? ''
  server = await wireServer([{ body: [first, api?.stream({ text: 'The second.' }) ?? ''] }])
  const model = createModel('anthropic/claude-sonnet-4-5', { baseURL: server.url, apiKey: 'a-key-of-no-worth', env: {} })

  const events: QueryEvent[] = []
  for await (const event of query({ prompt: 'Hello', model })) events.push(event)

  expect(events.map(({ type }) => type)).toContain('reset')
  expect(foldEvents(events).text).toBe('The second.')
  expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'The second.', finishReason: 'stop' } })
  expect(server.requests).toHaveLength(1)
})
