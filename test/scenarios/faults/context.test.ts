/** Tests conversations that exceed the context window, over HTTP, with the errors of each API. */

import { describe, expect, test } from 'vitest'
import { createModel } from '../../../src/app/models.ts'
import { query } from '../../../src/app/query.ts'
import type { LanguageModel } from '../../../src/core/model.ts'
import { collect } from '../../../src/testing/turns.ts'
import type { Api } from '../../support/answers.ts'
import { hasRecordings, replayServer, warnThatRecordingsAreMissing, violationsIn } from '../../support/shared-wire.ts'
import { wireServer } from '../../support/wire-server.ts'
import type { Received } from '../../support/wire-server.ts'
import { ALL_APIS } from './wire.ts'

if (!hasRecordings) warnThatRecordingsAreMissing()

const look = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { at: { type: 'number' } } },
  isReadOnly: true,
  needsPermission: false,
  call: ({ at }: { at: number }) => `Page ${at}. ${'The tide came in and went out again. '.repeat(60)}`,
} as const

/** Names of the APIs in the replay server. */
const NAMES: Readonly<Record<string, string>> = {
  openai: 'openai-responses',
  anthropic: 'anthropic-messages',
  google: 'gemini',
}

function modelAt(api: Api, url: string): LanguageModel {
  return createModel(api.model, { baseURL: `${url}/${api.version}`, apiKey: 'a-key-of-no-worth', env: {} })
}

const isSummary = ({ body }: Received): boolean => JSON.stringify(body).includes('You write the notes')

describe.each(ALL_APIS)('$provider', (api) => {
  test('ENG-CTX-002 a tool loop beyond 80 % of the window continues compacted, with a valid history', async () => {
    let step = 0
    await using server = await wireServer((request) => {
      if (isSummary(request)) return { body: api.stream({ text: 'Notes: pages were read.' }) }
      step++
      const said = step > 12 ? { text: 'Done.' } : { calls: [{ id: `call_${step}`, name: 'look', arguments: `{"at":${step}}` }] }
      // A server that counts less than half of what it was sent would be taken for one that cuts.
      const tokens = { input: Math.ceil(JSON.stringify(request.body).length / 4), output: 5 }
      return { body: api.stream({ ...said, tokens }) }
    })
    const turn = query({
      model: modelAt(api, server.url),
      system: 'Be brief.',
      prompt: 'Read the log of the harbour.',
      tools: [look],
      context: { compaction: { window: 5000 } },
    })
    const { events, result } = await collect(turn)
    expect(result).toMatchObject({ text: 'Done.', steps: 13 })
    const made = events.filter((event) => event.type === 'compaction')
    expect(made.length).toBeGreaterThan(0)
    for (const { tokensBefore, tokensAfter } of made) expect(tokensAfter).toBeLessThan(0.7 * tokensBefore)
    for (const request of server.requests.filter((each) => !isSummary(each))) {
      const sent = JSON.stringify(request.body)
      expect(sent).toContain('Be brief.')
      expect(sent).toContain('Read the log of the harbour.')
      if (hasRecordings) expect(await violationsIn(NAMES[api.provider] ?? 'openai-chat', request.body as never)).toEqual([])
    }
  })
})

describe.skipIf(!hasRecordings)('a provider that always reports a full window', () => {
  test.each(ALL_APIS)('ENG-ERR-003 one attempt to make room, then an error with numbers: $provider', async (api) => {
    const server = await replayServer()
    try {
      const model = createModel(api.model, {
        baseURL: `${server.url}/gen;fault=context-length/${api.version}`,
        apiKey: 'a-key-of-no-worth',
        env: {},
      })
      const requests = (): number => server.log.filter((line) => line.type === 'request').length
      const before = requests()
      const long = 'The tide came in and went out again. '.repeat(100)
      const messages = Array.from(
        { length: 10 },
        (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: long }) as const,
      )
      const { events, types } = await collect(query({ model, messages, prompt: 'And then?' }))
      expect(types.filter((type) => type === 'compaction')).toHaveLength(1)
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        error: { code: 'context_length', details: { tokens: expect.any(Number) } },
      })
      // The request, a summary that was also refused, and the compacted request.
      expect(requests() - before).toBe(3)
    } finally {
      await server.close()
    }
  })
})
