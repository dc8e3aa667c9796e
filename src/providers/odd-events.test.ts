/** What servers and gateways put between the events of an answer: nothing of it is part of the answer, and errors are told as such. */

import { describe, expect, test } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import type { Outcome } from '../../test/support/ask-provider.ts'
import { APIS } from '../../test/support/answers.ts'
import { wireServer } from '../../test/support/wire-server.ts'
import { createProviderModel } from './create.ts'

const TEXT = 'It is 15 °C.'

describe.each(APIS)('$provider', (api) => {
  const events = api
    .stream({ text: TEXT })
    .replaceAll('\r\n', '\n')
    .split(/(?<=\n\n)/)

  async function answerTo(body: string): Promise<Outcome> {
    await using server = await wireServer([{ body }])
    return await ask(
      createProviderModel(api.model, { baseURL: `${server.url}/${api.version}`, apiKey: 'sk-test-0123456789', env: {} }),
    )
  }

  test.each([
    ['an event of an unknown kind', 'event: vendor.note\ndata: {"type":"vendor.note","message":"still here"}\n\n'],
    ['an event without a kind', 'data: {"vendor":{"cost":1}}\n\n'],
    ['an event without anything', 'event: ping\ndata:\n\n'],
    ['JSON without members', 'data: null\n\ndata: 1\n\ndata: "ping"\n\n'],
    ['a field and a line of a vendor', 'x-vendor: yes\nnonsense\n\n'],
  ])('A04 A07 %s changes nothing, wherever it stands', async (_, odd) => {
    for (let at = 0; at <= events.length; at++) {
      const outcome = await answerTo(events.toSpliced(at, 0, odd).join(''))
      expect({ at, error: outcome.error?.message, text: outcome.text }).toEqual({ at, error: undefined, text: TEXT })
      expect({ at, reason: outcome.finish?.reason, output: outcome.usage?.outputTokens }).toEqual({
        at,
        reason: 'stop',
        output: 5,
      })
    }
  })

  test.each([
    ['in `error`', 'data: {"error":{"message":"The GPU burns.","code":503}}\n\n'],
    ['as a text', 'data: {"error":"The GPU burns."}\n\n'],
    [
      'as vLLM tells it',
      'data: {"object":"error","message":"The GPU burns.","type":"InternalServerError","param":null,"code":500}\n\n',
    ],
    ['as FastAPI tells it', 'data: {"detail":"The GPU burns."}\n\n'],
    ['as llama.cpp tells it', 'error: {"code":500,"message":"The GPU burns.","type":"server_error"}\n\n'],
    ['under the name of an error', 'event: error\ndata: {"code":500,"message":"The GPU burns."}\n\n'],
    ['in a kind of its own', 'data: {"type":"response.error","error":{"code":"server_error","message":"The GPU burns."}}\n\n'],
    ['as an event of kind error', 'data: {"type":"error","code":"server_error","message":"The GPU burns.","param":null}\n\n'],
  ])('B04 an error %s is told, even where the stream is then ended as if all were well', async (_, report) => {
    for (const at of [1, 2, events.length - 2].filter((place) => place >= 0 && place < events.length)) {
      for (const end of ['', 'data: [DONE]\n\n']) {
        const outcome = await answerTo([...events.slice(0, at), report, end].join(''))
        expect(outcome.error).toMatchObject({ code: 'overloaded', retryable: true })
        expect(outcome.error?.message).toContain('The GPU burns.')
        expect(TEXT.startsWith(outcome.text)).toBe(true)
        expect(outcome.finish).toBeUndefined()
      }
    }
  })

  test.each([
    { object: 'error', message: 'The GPU burns.', code: 500 },
    { detail: 'The GPU burns.' },
    { error: 'The GPU burns.' },
  ])('B04 an error in place of a whole answer is told: %j', async (body) => {
    const outcome = await answerTo(JSON.stringify(body))
    expect(outcome.error).toMatchObject({ code: 'overloaded', message: expect.stringContaining('The GPU burns.') as string })
  })

  test('B04 an error before anything else is told', async () => {
    for (const report of [
      'data: {"error":{"message":"The GPU burns.","code":503}}\n\n',
      'data: {"type":"error","message":"The GPU burns."}\n\n',
    ])
      expect((await answerTo(report)).error?.message).toContain('The GPU burns.')
  })
})

test('A07 a reason that was told is not forgotten when an unknown event follows it', async () => {
  const chat = APIS.find(({ provider }) => provider === 'openai-compatible')
  const [note, end] = ['data: {"type":"vendor.note"}\n\n', 'data: [DONE]\n\n']
  for (const [finish, reason] of [
    ['length', 'length'],
    ['content_filter', 'content-filter'],
    ['stop', 'stop'],
  ] as const) {
    const body = chat?.stream({ text: TEXT, finish }).replace(end, note + end)
    await using server = await wireServer([{ body: body ?? '' }])
    const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
    expect((await ask(model)).finish).toMatchObject({ reason, rawReason: finish })
  }
})

const JSON_CALL = '{"city":"Bern"}'
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

describe('what is not told in pieces is told all the same', () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: TEXT, annotations: [] }],
  }
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'find', arguments: JSON_CALL, status: 'completed' }
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [message, call] }
  const completed = event({ type: 'response.completed', response })
  const item = (kind: 'added' | 'done', output_index: number, value: object): string =>
    event({ type: `response.output_item.${kind}`, output_index, item: value })
  const start = event({
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] },
  })
  const block = (content_block: object): string =>
    event({ type: 'content_block_start', index: 0, content_block }) + event({ type: 'content_block_stop', index: 0 })
  const stop = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) + event({ type: 'message_stop' })
  const whole = {
    role: 'assistant',
    content: TEXT,
    tool_calls: [{ id: 'call_1', function: { name: 'find', arguments: JSON_CALL } }],
  }

  test.each<readonly [what: string, model: string, body: string, thinking: string, calls: number]>([
    ['by the end of a response only', 'openai/m', completed, '', 1],
    [
      'by whole items',
      'openai/m',
      item('added', 0, { ...message, content: [] }) + item('done', 0, message) + item('done', 1, call) + completed,
      '',
      1,
    ],
    ['by the beginning of a block', 'anthropic/m', start + block({ type: 'text', text: TEXT }) + stop, '', 0],
    [
      'by the beginning of a block of thinking',
      'anthropic/m',
      start + block({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }) + block({ type: 'text', text: TEXT }) + stop,
      'Hm.',
      0,
    ],
    [
      'by one whole message',
      'openai-compatible/m',
      event({ id: 'c', choices: [{ index: 0, message: whole, finish_reason: 'tool_calls' }] }),
      '',
      1,
    ],
  ])('%s', async (_, model, body, thinking, calls) => {
    await using server = await wireServer([{ body }])
    const outcome = await ask(createProviderModel(model, { baseURL: `${server.url}/v1`, apiKey: 'sk-test-0123456789', env: {} }))
    expect(outcome).toMatchObject({ text: TEXT, thinking, error: undefined })
    expect(outcome.calls.map(({ name, input }) => [name, input])).toEqual(calls === 0 ? [] : [['find', { city: 'Bern' }]])
    expect(outcome.finish?.reason).toBe(calls === 0 ? 'stop' : 'tool-calls')
    if (thinking !== '') expect(JSON.stringify(outcome.parts)).toContain('c2ln')
  })
})

test('C02 an error whose body never ends is the error that its status says', async () => {
  await using server = await wireServer([
    { status: 401, headers: { 'content-type': 'application/json' }, body: '{"error":', afterwards: 'hang' },
  ])
  const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
  expect((await ask(model)).error).toMatchObject({ code: 'auth', status: 401, retryable: false })
  await server.aborted()
})

test('C01 a status that no response can have is a gateway that failed', async () => {
  await using server = await wireServer([{ status: 999, body: 'Request denied' }])
  const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
  expect((await ask(model)).error).toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('Request denied') as string,
  })
})
