/** Tests slow readers of broken connections, and connections that stay open after their answer. */

import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createModel } from '../../../src/app/models.ts'
import { query } from '../../../src/app/query.ts'
import type { QueryEvent } from '../../../src/core/event.ts'
import { wireServer } from '../../support/wire-server.ts'
import type { Reply } from '../../support/wire-server.ts'
import { ALL_APIS, eventsOf, needed, SAID } from './wire.ts'

const words = Array.from({ length: 40 }, (_, index) => `word${index} `)
/** Many small events, so that every buffer on the way holds some. */
const PIECES: Readonly<Record<string, readonly string[]>> = {
  'openai-compatible/m': words.map((content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`),
  'anthropic/m': [
    { type: 'message_start', message: { id: 'm', model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
}

describe.each(Object.entries(PIECES))('%s', (ref, body) => {
  test.each([
    ['in chunks', {}],
    ['of a length', { 'content-length': '1000000' }],
  ])('ENG-ERR-005 a slow reader receives all text from before a broken connection: %s', async (_, headers) => {
    const broken = Promise.withResolvers<void>()
    await using server = await wireServer([{ body, headers, afterwards: 'reset', onAborted: () => broken.resolve() }])
    const model = createModel(ref, { baseURL: `${server.url}/v1`, apiKey: 'a-key-of-no-worth', env: {} })
    const events: QueryEvent[] = []
    for await (const event of query({ prompt: 'Say something.', model, retry: { maxRetries: 0 } })) {
      events.push(event)
      if (event.type !== 'text_delta') continue
      await broken.promise
      for (let turn = 0; turn < 5; turn++) await setImmediate()
    }
    expect(events.flatMap((event) => (event.type === 'text_delta' ? event.text : [])).join('')).toBe(words.join(''))
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'stream_interrupted', details: { text: words.join('') } },
    })
  })
})

describe.concurrent.each(ALL_APIS)('$provider', (api) => {
  test.each(['nothing', 'comments'])(
    'an answer that has ended is complete although its connection stays open and brings %s',
    async (what) => {
      const events = eventsOf(api, SAID)
      const body = events.slice(0, needed(events))
      const reply: Reply = {
        body: what === 'nothing' ? body : [...body, ...Array.from({ length: 200 }, () => ': still here\n\n')],
        afterwards: 'hang',
      }
      await using server = await wireServer([reply])
      const model = createModel(api.model, { baseURL: `${server.url}/${api.version}`, apiKey: 'a-key-of-no-worth', env: {} })
      const turn = await Array.fromAsync(query({ prompt: 'Say something.', model }))
      expect(turn.at(-1)).toMatchObject({ type: 'complete', result: { text: SAID.text, finishReason: 'stop' } })
      expect(server.requests).toHaveLength(1)
    },
  )
})
