/** Tests odd events of servers and gateways within an answer: they are not part of it, and errors among them are reported. */

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
  ])('%s changes nothing at any position', async (_, odd) => {
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
      'in the format of vLLM',
      'data: {"object":"error","message":"The GPU burns.","type":"InternalServerError","param":null,"code":500}\n\n',
    ],
    ['in the format of FastAPI', 'data: {"detail":"The GPU burns."}\n\n'],
    ['in the format of llama.cpp', 'error: {"code":500,"message":"The GPU burns.","type":"server_error"}\n\n'],
    ['under the name of an error', 'event: error\ndata: {"code":500,"message":"The GPU burns."}\n\n'],
    ['in a kind of its own', 'data: {"type":"response.error","error":{"code":"server_error","message":"The GPU burns."}}\n\n'],
    ['as an event of kind error', 'data: {"type":"error","code":"server_error","message":"The GPU burns.","param":null}\n\n'],
  ])('an error %s is reported, even if the stream then ends normally', async (_, report) => {
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
  ])('an error in place of a whole answer is reported: %j', async (body) => {
    const outcome = await answerTo(JSON.stringify(body))
    expect(outcome.error).toMatchObject({ code: 'overloaded', message: expect.stringContaining('The GPU burns.') as string })
  })

  test('an error in the first event is reported', async () => {
    for (const report of [
      'data: {"error":{"message":"The GPU burns.","code":503}}\n\n',
      'data: {"type":"error","message":"The GPU burns."}\n\n',
    ])
      expect((await answerTo(report)).error?.message).toContain('The GPU burns.')
  })
})

test('a finish reason is kept when an unknown event follows it', async () => {
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

describe('content without deltas is read', () => {
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

test('an error whose body never ends gets its code from the status', async () => {
  await using server = await wireServer([
    { status: 401, headers: { 'content-type': 'application/json' }, body: '{"error":', afterwards: 'hang' },
  ])
  const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
  expect((await ask(model)).error).toMatchObject({ code: 'auth', status: 401, retryable: false })
  await server.aborted()
})

test('an impossible status is reported as a failed gateway', async () => {
  await using server = await wireServer([{ status: 999, body: 'Request denied' }])
  const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
  expect((await ask(model)).error).toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('Request denied') as string,
  })
})

test('a redirect without a location is an error', async () => {
  await using server = await wireServer([{ status: 302, body: 'Moved' }])
  const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
  expect((await ask(model)).error).toMatchObject({ code: 'invalid_response', status: 302 })
})

test.each([
  ['an answer', 200, 'an empty response'],
  ['a redirect', 307, 'redirected more than 5 times'],
])("%s of a caller's own fetch may have no body", async (_, status, message) => {
  const response = { status, ok: status === 200, headers: new Headers({ location: '/v1' }) } as Response
  const options = { baseURL: 'http://127.0.0.1/v1', env: {}, fetch: () => Promise.resolve(response) }
  const { error } = await ask(createProviderModel('openai-compatible/m', options))
  expect(error).toMatchObject({ code: 'invalid_response', message: expect.stringContaining(message) as string })
})

test('arguments that are a too deeply nested object are invalid', async () => {
  const nested = '{"a":'.repeat(2000) + '1' + '}'.repeat(2000)
  const body = `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${nested}}}]},"finishReason":"STOP"}]}\n\n`
  await using server = await wireServer([{ body }])
  const model = createProviderModel('google/m', { baseURL: `${server.url}/v1beta`, env: {} })
  expect((await ask(model)).calls).toMatchObject([
    { name: 'f', input: {}, invalid: expect.stringContaining('500 levels') as string },
  ])
})

test('the text of a gateway about its upstream is quoted for every status', async () => {
  const words =
    'upstream connect error or disconnect/reset before headers. reset reason: remote connection failure, transport failure reason: delayed connect error: 111'
  for (const status of [200, 503]) {
    await using server = await wireServer([{ status, headers: { 'content-type': 'text/plain' }, body: words }])
    const model = createProviderModel('openai-compatible/m', { baseURL: `${server.url}/v1`, env: {} })
    expect((await ask(model)).error?.message).toContain('delayed connect error: 111')
  }
})

async function asked(model: string, body: string, stream = true): Promise<Outcome> {
  await using server = await wireServer([{ body }])
  return await ask(createProviderModel(model, { baseURL: `${server.url}/v1`, apiKey: 'sk-test-0123456789', env: {} }), { stream })
}

describe('members of undocumented types', () => {
  const head = {
    type: 'message_start',
    message: { id: 'm', model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
  }
  const said = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
    { type: 'content_block_stop', index: 0 },
  ]
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }
  const messages = (...events: readonly object[]): string => [...events, { type: 'message_stop' }].map(event).join('')

  test.each<readonly [what: string, message: object]>([
    ['counts as texts', { usage: { input_tokens: '5', output_tokens: '1' } }],
    ['a list of counts', { usage: [] }],
    ['no counts', { usage: null }],
    ['a number for an id', { id: 5 }],
    ['a number for a model', { model: 5 }],
    ['a number for a reason', { stop_reason: 5 }],
  ])('Messages: the head of an answer with %s', async (_, message) => {
    const outcome = await asked('anthropic/m', messages({ ...head, message: { ...head.message, ...message } }, ...said, end))
    expect(outcome).toMatchObject({ text: TEXT, error: undefined, finish: { reason: 'stop' }, usage: { outputTokens: 3 } })
  })

  test.each([null, [], '3', {}, { output_tokens: '3' }, { output_tokens: 3, input_tokens: 'x' }].map((usage) => [usage]))(
    'Messages: usage %j at the end',
    async (usage) => {
      const outcome = await asked('anthropic/m', messages(head, ...said, { ...end, usage }))
      expect(outcome).toMatchObject({ text: TEXT, error: undefined, finish: { reason: 'stop' } })
    },
  )

  test('Messages: output tokens of the first event are ignored', async () => {
    const outcome = await asked('anthropic/m', messages(head, ...said, { ...end, usage: {} }))
    expect(outcome.usage).toMatchObject({ inputTokens: 5, outputTokens: null, exactness: 'unknown' })
  })

  test.each(
    [[], '8', { prompt_tokens: '5' }, { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: [] }].map((usage) => [
      usage,
    ]),
  )('Chat Completions: usage %j beside the end', async (usage) => {
    for (const model of ['openai-chat/m', 'openai-compatible/m']) {
      const choices = [
        { index: 0, delta: { content: TEXT } },
        { index: 0, delta: {}, finish_reason: 'stop' },
      ]
      const body = event({ choices: choices.slice(0, 1) }) + event({ choices: choices.slice(1), usage }) + 'data: [DONE]\n\n'
      expect(await asked(model, body)).toMatchObject({ text: TEXT, error: undefined, finish: { reason: 'stop' } })
    }
  })

  test.each(['', null])('an error of %j beside the answer is ignored', async (error) => {
    const chat = event({ choices: [{ index: 0, delta: { content: TEXT } }], error })
    const chatEnd = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], error })
    for (const model of ['openai-chat/m', 'openai-compatible/m']) {
      expect(await asked(model, chat + chatEnd)).toMatchObject({ text: TEXT, error: undefined, finish: { reason: 'stop' } })
    }
    const gemini = event({ candidates: [{ content: { parts: [{ text: TEXT }] }, finishReason: 'STOP' }], error })
    expect(await asked('google/m', gemini)).toMatchObject({ text: TEXT, error: undefined, finish: { reason: 'stop' } })
  })

  test.each(
    [[], '6', { promptTokenCount: '5' }, { promptTokenCount: 5, promptTokensDetails: {} }].map((usageMetadata) => [
      usageMetadata,
    ]),
  )('Gemini: usage %j beside the end', async (usageMetadata) => {
    const body = event({ candidates: [{ content: { parts: [{ text: TEXT }] }, finishReason: 'STOP' }], usageMetadata })
    expect(await asked('google/m', body)).toMatchObject({ text: TEXT, error: undefined, finish: { reason: 'stop' } })
  })

  test('empty pieces of arguments yield no parts', async () => {
    const piece = (call: object): string => event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] })
    const begin = piece({ id: 'c', type: 'function', function: { name: 'find', arguments: '' } })
    const empty = piece({ function: { arguments: '' } })
    const rest =
      piece({ function: { arguments: '{}' } }) + event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
    const { parts } = await asked('openai-compatible/m', begin + empty.repeat(20) + rest)
    expect(parts.flatMap((part) => (part.type === 'tool-input' ? part.delta : []))).toEqual(['', '{}'])
  })
})

describe.each([true, false])('a whole response that failed (stream requested: %s)', (stream) => {
  const message = { type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text: TEXT, annotations: [] }] }
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [message] }

  test.each<readonly [body: object, code: string]>([
    [{ status: 'failed', error: { code: 'server_error', message: 'The GPU burns.' } }, 'overloaded'],
    [{ status: 'failed', error: null }, 'invalid_response'],
    [{ status: 'cancelled' }, 'invalid_response'],
    [{ status: 'in_progress' }, 'invalid_response'],
    [{ status: 'queued' }, 'invalid_response'],
  ])('Responses: %j is an error', async (body, code) => {
    const outcome = await asked('openai/m', JSON.stringify({ ...response, ...body }), stream)
    expect(outcome.error).toMatchObject({ code, retryable: true })
    expect(outcome.finish).toBeUndefined()
  })

  test('Responses: an incomplete response without a reason does not finish with stop', async () => {
    const body = { ...response, status: 'incomplete', incomplete_details: null }
    expect(await asked('openai/m', JSON.stringify(body), stream)).toMatchObject({ text: TEXT, finish: { reason: 'other' } })
  })
})
