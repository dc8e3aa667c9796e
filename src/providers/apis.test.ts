/** Tests every API over a real socket: answers arrive, their data is sent back, and failures are named. */

import { getEventListeners } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { afterTools, ask, QUESTION } from '../../test/support/ask-provider.ts'
import { APIS } from '../../test/support/answers.ts'
import type { Api, Said } from '../../test/support/answers.ts'
import { CUTS, wireServer } from '../../test/support/wire-server.ts'
import type { Received, Reply, WireServer } from '../../test/support/wire-server.ts'
import { assistant, developer, system, toolResult, user } from '../core/message.ts'
import type { LanguageModel, ModelPart, ToolSpec } from '../core/model.ts'
import { sendOverHttp } from './connection.ts'
import { createProviderModel } from './create.ts'
import type { ProviderOptions } from './create.ts'

let server: WireServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const KEY = 'sk-test-0123456789abcdef'

async function serve(
  api: Api,
  replies: Parameters<typeof wireServer>[0],
  options: ProviderOptions = {},
  model: string = api.model,
): Promise<LanguageModel> {
  server = await wireServer(replies)
  return createProviderModel(model, { baseURL: `${server.url}/${api.version}`, apiKey: KEY, env: {}, ...options })
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const whole = (api: Api, said: Said): Reply => ({ headers: JSON_HEADERS, body: JSON.stringify(api.whole(said)) })
const failure = (api: Api, status: number, message: string, code?: string, headers = {}): Reply => ({
  status,
  headers: { ...JSON_HEADERS, ...headers },
  body: JSON.stringify(api.error(message, code)),
})
const received = (index = 0): Received => {
  const request = server?.requests[index]
  if (request === undefined) throw new Error(`There was no request number ${index}.`)
  return request
}

const SAID: Said = { text: 'It is 15 °C in Zürich 🌤.', thinking: 'Let me think…', signature: 'c2lnbmF0dXJl' }
const CALLS: Said = {
  calls: [
    { id: 'call_a', name: 'get_weather', arguments: '{"city":"Zürich"}' },
    { id: 'call_b', name: 'get_weather', arguments: '{"city":"Bern"}' },
  ],
}
const TOOL: ToolSpec = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

/** Each API over `fetch`, and one over `node:http`, which the command line uses. */
const TRANSPORTS = APIS.flatMap((api, index) => [
  { api, transport: 'fetch', provider: api.provider },
  ...(index === 0 ? [{ api, transport: 'node:http', provider: api.provider }] : []),
])

describe.each(TRANSPORTS)('$provider over $transport', ({ api, transport }) => {
  beforeAll(() => sendOverHttp(transport === 'node:http'))
  afterAll(() => sendOverHttp(false))

  describe.each(Object.entries(CUTS))('ENG-STREAM-002 a stream that arrives %s', (name, cut) => {
    test('yields text, thinking, usage, finish reason and the model', async () => {
      const model = await serve(api, [{ body: cut(api.stream(SAID)) }])
      const outcome = await ask(model)
      expect(outcome.error).toBeUndefined()
      expect(outcome).toMatchObject({ text: SAID.text, thinking: SAID.thinking, response: { model: 'test-model-1' } })
      expect(outcome.finish).toMatchObject({ reason: 'stop' })
      expect(outcome.usage).toMatchObject({ inputTokens: 12, outputTokens: 5, exactness: 'exact' })
      // Deltas that arrive together are yielded together.
      if (name === 'whole') expect(outcome.parts.filter((part) => part.type === 'text' && part.text !== '')).toHaveLength(1)
    })

    test('yields tool calls with their arguments', async () => {
      const model = await serve(api, [{ body: cut(api.stream(CALLS)) }])
      const outcome = await ask(model, { tools: [TOOL] })
      expect(outcome.calls.map(({ name, input }) => [name, input])).toEqual([
        ['get_weather', { city: 'Zürich' }],
        ['get_weather', { city: 'Bern' }],
      ])
      expect(new Set(outcome.calls.map((call) => call.id)).size).toBe(2)
      expect(outcome.finish?.reason).toBe('tool-calls')
    })
  })

  test.each([
    ['CRLF', (text: string) => text.replaceAll(/\r?\n/g, '\r\n')],
    ['CR', (text: string) => text.replaceAll(/\r?\n/g, '\r')],
    ['a byte order mark', (text: string) => `\uFEFF${text}`],
    ['comments and keep-alives', (text: string) => `: first\n\n${text.replaceAll(/\r?\n\r?\n/g, '\n: in between\n\n:\n\n')}`],
    ['unknown fields', (text: string) => text.replaceAll(/^data/gm, 'id: 7\nretry: 100\nvendor: x\nnonsense\ndata')],
    ['no space after the colon', (text: string) => text.replaceAll(/^(data|event): /gm, '$1:')],
    [
      'unknown events',
      (text: string) => `event: vendor.note\ndata: {"x":1}\n\nevent: note\ndata: {"type":"vendor.note"}\n\n${text}`,
    ],
    ['the event after its data', (text: string) => text.replaceAll(/^(event: .*)\n(data: .*)$/gm, '$2\n$1')],
    ['no empty line after the last event', (text: string) => text.trimEnd()],
  ])('ENG-STREAM-002 framing with %s changes nothing', async (_, frame) => {
    const model = await serve(api, [{ body: frame(api.stream(SAID)) }])
    const outcome = await ask(model)
    expect(outcome.error).toBeUndefined()
    expect(outcome.text).toBe(SAID.text)
    expect(outcome.finish?.reason).toBe('stop')
  })

  test('bytes after the end are not part of the answer', async () => {
    const text = api.stream(SAID)
    // Gemini ends with a finish reason; the others have an end mark.
    const after =
      api.provider === 'google'
        ? `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: 'more' }] } }] })}\n\n`
        : text
    const model = await serve(api, [{ body: text + after + after }])
    expect(await ask(model)).toMatchObject({ text: SAID.text, thinking: SAID.thinking, error: undefined })
  })

  test('JSON over several data lines is joined', async () => {
    const spread = api.stream(SAID).replaceAll(/^data: (\{.*\})$/gm, (_, json: string) =>
      JSON.stringify(JSON.parse(json), null, 1)
        .split('\n')
        .map((line) => `data: ${line}`)
        .join('\n'),
    )
    expect((await ask(await serve(api, [{ body: spread }]))).text).toBe(SAID.text)
  })

  test('an answer without streaming has the same content as a stream', async () => {
    const model = await serve(api, [whole(api, { ...SAID, ...CALLS })])
    const outcome = await ask(model, { stream: false })
    expect(outcome).toMatchObject({ text: SAID.text, thinking: SAID.thinking, error: undefined })
    expect(outcome.calls.map((call) => call.input)).toEqual([{ city: 'Zürich' }, { city: 'Bern' }])
    expect(outcome.usage).toMatchObject({ inputTokens: 12, outputTokens: 5, exactness: 'exact' })
    expect((received().body as { stream?: boolean }).stream ?? false).toBe(false)
    expect(received().path).not.toMatch(/stream/i)
  })

  test('a stream in place of one object, and the reverse, is read with one request', async () => {
    const model = await serve(api, [whole(api, SAID), { body: api.stream(SAID), headers: JSON_HEADERS }])
    expect(await ask(model)).toMatchObject({ text: SAID.text, error: undefined })
    expect(await ask(model, { stream: false })).toMatchObject({ text: SAID.text, error: undefined })
    expect(server?.requests).toHaveLength(2)
  })

  test('ENG-THINK-001 thinking is sent back, with its signature, only to the model that wrote it', async () => {
    const model = await serve(api, [{ body: api.stream({ ...SAID, ...CALLS }) }, { body: api.stream(SAID) }])
    const first = await ask(model, { tools: [TOOL] })
    const history = afterTools(model, first, 'sunny')
    expect((await ask(model, { tools: [TOOL], messages: history })).error).toBeUndefined()
    const signed = JSON.stringify(received(1).body)
    // OpenAI's Chat Completions takes no thinking and has no signatures; the other APIs receive the text or the signature.
    if (api.provider === 'openai-chat') expect(signed).not.toContain('Let me think')
    else expect(signed).toContain(api.provider === 'openai-compatible' ? 'Let me think' : 'c2lnbmF0dXJl')

    const url = server?.url ?? ''
    const other = createProviderModel(`${api.provider}/another-model`, { baseURL: `${url}/${api.version}`, apiKey: KEY, env: {} })
    await ask(other, { tools: [TOOL], messages: history })
    expect(JSON.stringify(received(2).body)).not.toMatch(/c2lnbmF0dXJl|Let me think/)
  })

  test('a conversation with tools is sent in a form that the API accepts', async () => {
    const model = await serve(api, [{ body: api.stream(SAID) }])
    const messages = [
      system('Be brief.'),
      user('One'),
      assistant('First.'),
      developer('Answer in French.'),
      user([
        { type: 'text', text: 'What is in these?' },
        { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
      ]),
      assistant([
        { type: 'text', text: 'I look. ' },
        { type: 'tool-call', id: 'call_1', name: 'get_weather', input: { city: 'Bern' } },
        { type: 'tool-call', id: 'call_2', name: 'get_weather', input: '{"city": tru', invalid: 'not JSON' },
      ]),
      toolResult({
        id: 'call_1',
        name: 'get_weather',
        content: 'sunny',
        attachments: [{ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }],
      }),
      toolResult({ id: 'call_2', name: 'get_weather', content: '', isError: true }),
      assistant(''),
      user('Go on \uD83D half a pair\0'),
    ]
    const outcome = await ask(model, { messages, tools: [TOOL] })
    expect(outcome.error).toBeUndefined()
    const sent = JSON.stringify(received().body)
    expect(sent).toContain('Be brief.')
    expect(sent).toContain('Answer in French.')
    expect(sent).toContain('iVBORw0KGgo=')
    expect(sent).not.toMatch(/\\ud83d|\\u0000/)
    expect(sent).not.toContain('"text":""')
  })

  test('CORE-SIMPLE-003 settings, tools, tool choice and format reach the provider', async () => {
    const model = await serve(api, [{ body: api.stream(SAID) }], {}, api.provider === 'openai' ? 'openai/gpt-4o' : api.model)
    await ask(model, {
      temperature: 0.25,
      maxOutputTokens: 321,
      stopSequences: api.provider === 'openai' ? [] : ['STOP HERE'],
      tools: [TOOL],
      toolChoice: { tool: 'get_weather' },
    })
    const sent = JSON.stringify(received().body)
    for (const value of ['0.25', '321', 'The weather of a city.']) expect(sent).toContain(value)
    if (api.provider !== 'openai') expect(sent).toContain('STOP HERE')
    expect(sent.match(/get_weather/g)?.length).toBe(2)
  })

  test.each(['off', 'low', 'medium', 'high'] as const)(
    'ENG-THINK-001 thinking effort %s is one setting for all APIs',
    async (thinking) => {
      const model = await serve(api, [{ body: api.stream(SAID) }], {}, api.model.replace('gpt-4o', 'gpt-5-mini'))
      expect((await ask(model, { thinking })).error).toBeUndefined()
      const body = received().body as Record<string, unknown>
      const generation = body['generationConfig'] as Record<string, unknown> | undefined
      const asked = JSON.stringify([
        body['reasoning'],
        body['reasoning_effort'],
        body['thinking'],
        generation?.['thinkingConfig'],
      ])
      expect(asked).not.toBe('[null,null,null,null]')
      expect(asked).toMatch(thinking === 'off' ? /none|minimal|disabled|"thinkingBudget":0/ : /low|medium|high|budget/i)
    },
  )

  test('ENG-THINK-001 a model that does not reason is sent no thinking effort', async () => {
    const names: Record<string, string> = { anthropic: 'claude-3-haiku-20240307', google: 'gemini-2.0-flash' }
    const model = await serve(api, [{ body: api.stream(SAID) }], {}, `${api.provider}/${names[api.provider] ?? 'gpt-4o'}`)
    const { warnings } = await ask(model, { thinking: 'high' })
    expect(JSON.stringify(received().body)).not.toMatch(/reasoning|thinking/i)
    expect(warnings.join()).toContain('does not reason')
  })

  test('tool names that providers refuse are rewritten, and mapped back in answers', async () => {
    const names = ['docs.search', 'docs search', '1st', 'x'.repeat(80), 'docs_search']
    const tools = names.map((name) => ({ ...TOOL, name }))
    let sent: string[] = []
    const model = await serve(api, ({ body }) => {
      sent = [...JSON.stringify(body).matchAll(/"name":"([^"]+)"/g)].map((match) => match[1] ?? '')
      return { body: api.stream({ calls: sent.map((name, index) => ({ id: `c${index}`, name, arguments: '{}' })) }) }
    })
    const outcome = await ask(model, { tools })
    expect(sent).toHaveLength(names.length)
    for (const name of sent) expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/)
    expect(new Set(sent).size).toBe(names.length)
    expect(outcome.calls.map((call) => call.name).toSorted()).toEqual(names.toSorted())
  })

  test('ids of tool calls are unique, even if the provider repeats them', async () => {
    const twice: Said = {
      calls: [
        { id: 'call_1', name: 'a', arguments: '{}' },
        { id: 'call_1', name: 'b', arguments: '{}' },
      ],
    }
    const model = await serve(api, [{ body: api.stream(twice) }, whole(api, twice)])
    const history = [
      user('x'),
      assistant([{ type: 'tool-call', id: 'call_1', name: 'a', input: {} }]),
      toolResult({ id: 'call_1', name: 'a', content: 'x' }),
    ]
    for (const stream of [true, false]) {
      const { calls } = await ask(model, { messages: history, stream })
      expect(new Set([...calls.map((call) => call.id), 'call_1']).size).toBe(3)
    }
  })

  test('a finish reason of tool calls without a tool call is an error, not an empty answer', async () => {
    const word = {
      google: 'MALFORMED_FUNCTION_CALL',
      anthropic: 'tool_use',
      'openai-chat': 'tool_calls',
      'openai-compatible': 'tool_calls',
    }[api.provider]
    if (word === undefined) return
    const model = await serve(api, [{ body: api.stream({ text: ' ', finish: word }) }])
    expect((await ask(model)).error).toMatchObject({ code: 'invalid_response', retryable: true })
  })

  test('an answer cut at its limit has the finish reason length', async () => {
    const word = { google: 'MAX_TOKENS', anthropic: 'max_tokens', openai: 'max_output_tokens' }[api.provider] ?? 'length'
    const model = await serve(api, [
      { body: api.stream({ text: 'It is', finish: word }) },
      whole(api, { text: 'It is', finish: word }),
    ])
    for (const stream of [true, false])
      expect((await ask(model, { stream })).finish).toMatchObject({ reason: 'length', rawReason: word })
  })

  describe('what goes wrong', () => {
    test.each([
      [400, 'bad_thing', 'Something is wrong with the request', { code: 'invalid_request', retryable: false }],
      [401, 'invalid_api_key', `Incorrect API key provided: ${KEY}`, { code: 'auth', retryable: false }],
      [403, undefined, 'No access', { code: 'auth', retryable: false }],
      [404, 'model_not_found', 'The model does not exist', { code: 'model_unavailable', retryable: false }],
      [413, undefined, 'Too large', { code: 'invalid_request', retryable: false }],
      [422, undefined, 'Unprocessable', { code: 'invalid_request', retryable: false }],
      [408, undefined, 'Slow', { code: 'timeout', retryable: true }],
      [409, undefined, 'Conflict', { code: 'overloaded', retryable: true }],
      [429, 'rate_limit_exceeded', 'Slow down', { code: 'rate_limited', retryable: true }],
      [
        429,
        'insufficient_quota',
        'You exceeded your current quota, please check your plan and billing details.',
        { code: 'quota', retryable: false },
      ],
      [500, undefined, 'Oops', { code: 'overloaded', retryable: true }],
      [503, undefined, 'Unavailable', { code: 'overloaded', retryable: true }],
      [529, 'overloaded_error', 'Overloaded', { code: 'overloaded', retryable: true }],
    ] as const)(
      'status %i (%s) is reported with provider, status and message, and without the key',
      async (status, code, message, expected) => {
        const model = await serve(api, [failure(api, status, message, code)])
        for (const stream of [true, false]) {
          const { error } = await ask(model, { stream })
          expect(error).toMatchObject({ ...expected, status })
          expect(error?.message).toContain(api.provider)
          expect(error?.message).toContain(message.replace(KEY, 'sk-[redacted]').slice(0, 20))
          expect(JSON.stringify([error, String(error?.cause), error?.stack])).not.toContain(KEY)
        }
        expect(server?.requests).toHaveLength(2)
      },
    )

    test.each([
      'prompt is too long: 210000 tokens > 200000 maximum',
      "This model's maximum context length is 128000 tokens.",
      'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    ])('ENG-ERR-003 a full context window is recognised: %s', async (message) => {
      const model = await serve(api, [failure(api, 400, message)])
      expect((await ask(model)).error).toMatchObject({ code: 'context_length', status: 400, retryable: false })
    })

    test('the wait that a provider asks for is part of the error', async () => {
      const model = await serve(api, [failure(api, 429, 'Slow down', undefined, { 'retry-after': '7' })])
      expect((await ask(model)).error?.details).toMatchObject({ provider: api.provider, retryAfterMs: 7000 })
    })

    test('a stream that ends early is interrupted, never finished', async () => {
      const text = api.stream(SAID)
      const events = text.split(/(?<=\n\r?\n)/)
      const model = await serve(api, () => ({ body: events.slice(0, Math.ceil(events.length / 2)).join('') }))
      const outcome = await ask(model)
      expect(outcome.error).toMatchObject({ code: 'stream_interrupted', retryable: true })
      expect(outcome.finish).toBeUndefined()
    })

    test('a connection that breaks early interrupts the answer and keeps the text so far', async () => {
      const model = await serve(api, [{ body: upToText(api), afterwards: 'reset' }])
      const outcome = await ask(model)
      expect(outcome.error).toMatchObject({ code: 'stream_interrupted', retryable: true })
      expect(outcome.error?.message).toMatch(/127\.0\.0\.1:\d+/)
      expect(SAID.text?.startsWith(outcome.text)).toBe(true)
      expect(outcome.text).not.toBe('')
    })

    test('an error inside a stream has its error code, and is not text', async () => {
      const events = api.stream({ text: SAID.text ?? '' }).split(/(?<=\n\r?\n)/)
      const model = await serve(api, [
        {
          body:
            events.slice(0, 4).join('') +
            api.streamError('Overloaded', api.provider === 'google' ? 'UNAVAILABLE' : 'overloaded_error') +
            events.slice(4).join(''),
        },
      ])
      const outcome = await ask(model)
      expect(outcome.error).toMatchObject({ code: 'overloaded', retryable: true })
      expect(outcome.error?.message).toContain('Overloaded')
      expect(outcome.text).not.toContain('Overloaded')
      expect(outcome.finish).toBeUndefined()
    })

    test('the error for an event that is not JSON names the provider and the number of the event', async () => {
      const model = await serve(api, [{ body: `: hello\n\n${api.stream(SAID).replace(/\}(\r?\n\r?\n)/, '$1')}` }])
      const { error } = await ask(model)
      expect(error).toMatchObject({ code: 'stream_interrupted', details: { event: 1 } })
      expect(error?.message).toMatch(new RegExp(`^${api.provider}: event 1 of the stream is not JSON`))
    })

    test('an event without an end is an error, and its connection is closed', async () => {
      const model = await serve(
        api,
        [{ body: Array.from({ length: 40 }, () => `data: ${'x'.repeat(10_000)}`.slice(0, 10_000)), afterwards: 'hang' }],
        { maxEventBytes: 100_000 },
      )
      expect((await ask(model)).error).toMatchObject({ code: 'invalid_response', retryable: false })
      await server?.aborted()
    })

    test('a stream without an end is stopped, its parts are kept, and its connection is closed', async () => {
      const model = await serve(
        api,
        [{ body: [...upToText(api), ...Array.from({ length: 400 }, () => ': nothing new\n\n'.repeat(64))], afterwards: 'hang' }],
        { maxAnswerBytes: 100_000 },
      )
      const { error, text } = await ask(model)
      expect(error).toMatchObject({
        code: 'invalid_response',
        retryable: false,
        hint: expect.stringContaining('maxAnswerBytes') as string,
      })
      expect(text).not.toBe('')
      await server?.aborted()
    })

    test('an event of 10 MB is read', async () => {
      const text = 'x'.repeat(10 * 1024 * 1024)
      const model = await serve(api, [{ body: api.stream({ text }) }])
      expect((await ask(model)).text).toHaveLength(text.length)
    })

    test.each([
      ['nothing', { body: '' }, /empty response/],
      [
        'a web page',
        { body: '<!doctype html><title>Welcome</title><h1>It works</h1>', headers: { 'content-type': 'text/html' } },
        /a web page \(“Welcome”\)/,
      ],
      [
        'some text',
        { body: 'upstream connect error or disconnect', headers: { 'content-type': 'text/plain' } },
        /neither JSON nor an event stream/,
      ],
    ] as const)('%s in place of an answer is an error that names it', async (_, reply, words) => {
      const model = await serve(api, [reply])
      for (const stream of [true, false]) {
        const { error } = await ask(model, { stream })
        expect(error).toMatchObject({ code: 'invalid_response', status: 200 })
        expect(error?.message).toMatch(words)
      }
    })

    test('a page of a proxy becomes a short message without markup', async () => {
      const page =
        '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr>nginx</body></html>'
      const model = await serve(api, [{ status: 502, headers: { 'content-type': 'text/html' }, body: page }])
      const { error } = await ask(model)
      expect(error).toMatchObject({ code: 'overloaded', status: 502, retryable: true })
      expect(error?.message).not.toMatch(/[<>]/)
    })

    test('a web page with status 404 has a hint about the base URL', async () => {
      const model = await serve(api, [
        { status: 404, headers: { 'content-type': 'text/html' }, body: '<title>Not Found</title>' },
      ])
      const { error } = await ask(model)
      expect(error).toMatchObject({ code: 'invalid_response', status: 404, retryable: false })
      expect(error?.hint).toContain('base URL')
    })

    test('a connection that is reset before the answer names host and code', async () => {
      const model = await serve(api, [{ afterwards: 'before' }])
      const { error } = await ask(model)
      expect(error).toMatchObject({ code: 'network', retryable: true })
      expect(error?.message).toMatch(/127\.0\.0\.1:\d+ closed the connection \(ECONNRESET\)/)
    })

    test('a redirect is followed within the same host, and not to another', async () => {
      const other = await wireServer([{ body: api.stream(SAID) }])
      const model = await serve(api, ({ path }) =>
        path.startsWith('/moved')
          ? { body: api.stream(SAID) }
          : { status: 307, headers: { location: path.includes('away') ? `${other.url}/v1` : `/moved${path}` } },
      )
      expect((await ask(model)).text).toBe(SAID.text)
      const url = server?.url ?? ''
      const away = createProviderModel(api.model, { baseURL: `${url}/away/${api.version}`, apiKey: KEY, env: {} })
      const { error } = await ask(away)
      expect(error).toMatchObject({ code: 'invalid_response', status: 307, retryable: false })
      expect(error?.message).toContain(other.url)
      expect(other.requests).toHaveLength(0)
      await other[Symbol.asyncDispose]()
    })
  })

  describe('aborting and leaving', () => {
    test('an abort in mid-stream closes the connection', async () => {
      const model = await serve(api, [{ body: upToText(api), afterwards: 'hang' }])
      const controller = new AbortController()
      const parts = model.stream({ ...QUESTION, model: model.ref }, { signal: controller.signal, span: silent })
      const iterator = parts[Symbol.asyncIterator]()
      for (let type = ''; type !== 'text';) type = ((await iterator.next()).value as ModelPart).type
      controller.abort()
      await expect(drain(iterator)).rejects.toMatchObject({ code: 'aborted' })
      await server?.aborted()
    })

    test('a reader that stops reading closes the connection', async () => {
      const model = await serve(api, [{ body: upToText(api), afterwards: 'hang' }])
      for await (const part of model.stream(
        { ...QUESTION, model: model.ref },
        {
          signal: new AbortController().signal,
          span: silent,
        },
      )) {
        if (part.type === 'text') break
      }
      await expect(server?.aborted()).resolves.toBeUndefined()
    })

    test('an abort before the answer ends the wait', async () => {
      const model = await serve(api, [{ body: '', afterwards: 'hang' }])
      const { error } = await ask(model, {}, AbortSignal.timeout(50))
      expect(error).toMatchObject({ code: 'timeout' })
    })
  })

  test('ENG-STREAM-002 a paused reader stops reading from the socket', { timeout: 60_000 }, async () => {
    const events = api.stream({ text: SAID.text ?? '' }).split(/(?<=\n\r?\n)/)
    const place = events.findIndex((event) => event.includes('It is'))
    const more = (events[place] ?? '').repeat(Math.ceil(65_536 / (events[place]?.length ?? 1)))
    // 128 MB, if it were read.
    const model = await serve(api, [
      { body: [...events.slice(0, place + 1), ...Array.from({ length: 2000 }, () => more)], afterwards: 'hang' },
    ])
    const stream = model.stream({ ...QUESTION, model: model.ref }, { signal: new AbortController().signal, span: silent })
    const parts = stream[Symbol.asyncIterator]()
    for (let type = ''; type !== 'text';) type = ((await parts.next()).value as ModelPart).type
    let [before, now] = [-1, server?.written() ?? 0]
    while (before !== now) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      ;[before, now] = [now, server?.written() ?? 0]
    }
    expect(now).toBeLessThan(400)
    await parts.return?.()
    await server?.aborted()
  })

  test('listeners do not pile up on a signal', async () => {
    const model = await serve(api, [{ body: api.stream(SAID) }])
    const { signal } = new AbortController()
    for (let i = 0; i < 30; i++) await ask(model, {}, signal)
    expect(getEventListeners(signal, 'abort').length).toBe(0)
  })

  test('a connection is reused after a complete answer', async () => {
    const model = await serve(api, [{ body: api.stream(SAID) }])
    for (let i = 0; i < 6; i++) await ask(model)
    // The second request may start before the first connection is free.
    expect(new Set(server?.requests.map((request) => request.connection)).size).toBeLessThanOrEqual(2)
  })
})

/** Returns the events of an answer up to its first text delta. */
function upToText(api: Api): string[] {
  const events = api.stream({ text: SAID.text ?? '' }).split(/(?<=\n\r?\n)/)
  return events.slice(0, events.findIndex((event) => event.includes('It is')) + 1)
}

const silent = {
  traceId: '',
  spanId: '',
  child: () => silent,
  set() {},
  event() {},
  fail() {},
  end() {},
  run: <T>(work: () => T): T => work(),
}

async function drain(iterator: AsyncIterator<unknown>): Promise<void> {
  while ((await iterator.next()).done !== true);
}
