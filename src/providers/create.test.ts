import { afterEach, describe, expect, it } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import { APIS } from '../../test/support/answers.ts'
import { wireServer } from '../../test/support/wire-server.ts'
import type { WireServer } from '../../test/support/wire-server.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import { normalizeBaseUrl, ollamaBaseUrl } from './registry.ts'
import { providerStatus } from './connection.ts'
import { createProviderModel } from './create.ts'

let server: WireServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const api = (provider: string): (typeof APIS)[number] => {
  const found = APIS.find((candidate) => candidate.provider === provider)
  if (found === undefined) throw new Error(`No API for ${provider}`)
  return found
}

describe('createProviderModel', () => {
  it.each(['openai', 'openai/', '/gpt', 'gpt-5', 'nope/gpt-5', ''])('refuses the name %j', (ref) => {
    expect(() => createProviderModel(ref, { env: {} })).toThrow(expect.objectContaining({ code: 'configuration' }))
  })

  it('names the variable if the base URL is not set', () => {
    expect(() => createProviderModel('openai-compatible/x', { env: {} })).toThrow(/OPENAI_COMPATIBLE_BASE_URL/)
  })

  it.each([
    ['openai', 'OPENAI_BASE_URL', 'not a url'],
    ['anthropic', 'ANTHROPIC_BASE_URL', 'ftp://host'],
    ['openai-compatible', 'OPENAI_COMPATIBLE_BASE_URL', 'localhost:8080'],
  ])('refuses an invalid base URL: %s', (provider, variable, value) => {
    expect(() => createProviderModel(`${provider}/x`, { env: { [variable]: value } })).toThrow(
      new RegExp(`${variable} must be a URL`),
    )
    expect(() => createProviderModel(`${provider}/x`, { baseURL: value, env: {} })).toThrow(/The option baseURL must be a URL/)
  })

  it.each([
    ['openai', 'OPENAI_API_KEY'],
    ['openai-chat', 'OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['mistral', 'MISTRAL_API_KEY'],
    ['deepseek', 'DEEPSEEK_API_KEY'],
    ['groq', 'GROQ_API_KEY'],
    ['openrouter', 'OPENROUTER_API_KEY'],
    ['together', 'TOGETHER_API_KEY'],
    ['xai', 'XAI_API_KEY'],
    ['fireworks', 'FIREWORKS_API_KEY'],
    ['cerebras', 'CEREBRAS_API_KEY'],
    ['perplexity', 'PERPLEXITY_API_KEY'],
    ['moonshot', 'MOONSHOT_API_KEY'],
  ])('needs a key of %s only at its first request, and then names %s', async (provider, variable) => {
    const fetch = (): never => {
      throw new Error('Nothing may be sent.')
    }
    const { error } = await ask(createProviderModel(`${provider}/x`, { env: { [variable]: ' ' }, fetch }))
    expect(error).toMatchObject({ code: 'auth', retryable: false })
    expect(error?.message).toContain(variable)
    expect(error?.hint).toContain(variable)
  })

  it.each([
    ['a line break', 'sk-abcdefgh\nijklmnop'],
    ['an invisible character', 'sk-abcdefgh\u200Bijklmnop'],
    ['NUL', 'sk-abcdefgh\0ijklmnop'],
  ])('does not send a key with %s, and does not repeat it', async (_, key) => {
    for (const given of [{ apiKey: key }, { env: { OPENAI_API_KEY: key } }]) {
      const { error } = await ask(createProviderModel('openai/x', { env: {}, ...given }))
      expect(error).toMatchObject({ code: 'auth', retryable: false })
      expect(error?.message).toContain('apiKey' in given ? 'apiKey' : 'OPENAI_API_KEY')
      expect(JSON.stringify(error)).not.toMatch(/abcdefgh|ijklmnop/)
    }
  })

  it.each([{ 'x-team': 'hunter22\u2028' }, { 'x team': 'hunter22' }])('refuses the header %j', async (headers) => {
    const { error } = await ask(
      createProviderModel('openai-compatible/x', { baseURL: 'http://127.0.0.1:9/v1', headers, env: {} }),
    )
    expect(error).toMatchObject({ code: 'configuration', message: expect.stringContaining('header') as string })
    expect(error?.message).not.toContain('hunter22')
  })

  it.each([
    'http://me:hunter22@host/v1',
    'http://me:p@hunter22@host/v1',
    'http://me:hunter@22secret@host/v1',
    'http:/me:hunter22@host/v1',
    'http:me:hunter22@host/v1',
    String.raw`http:\\me:hunter22@host/v1`,
  ])('refuses a base URL with a password, and does not repeat it: %s', (baseURL) => {
    const create = (): unknown => createProviderModel('openai-compatible/x', { baseURL, env: {} })
    expect(create).not.toThrow(/22secret/)
    expect(create).toThrow(/^(?!.*hunter22).*must not hold a name and a password/)
  })

  it('prefers the key of the option to that of the environment, and keeps slashes in model names', async () => {
    server = await wireServer([{ body: api('openai-compatible').stream({ text: 'yes' }) }])
    const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`, OPENAI_COMPATIBLE_API_KEY: 'key-of-the-environment' }
    await ask(createProviderModel('openai-compatible/meta/llama-3', { env }))
    await ask(createProviderModel('openai-compatible/meta/llama-3', { env, apiKey: 'key-of-the-option' }))
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer key-of-the-environment',
      'Bearer key-of-the-option',
    ])
    expect(server.requests[0]?.body).toMatchObject({
      model: 'meta/llama-3',
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(server.requests[0]?.path).toBe('/v1/chat/completions')
  })

  it.each([
    ['azure', 'AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_ENDPOINT', '/openai/v1/chat/completions', 'api-key', 'k'],
    ['groq', 'GROQ_API_KEY', 'GROQ_BASE_URL', '/chat/completions', 'authorization', 'Bearer k'],
    ['mistral', 'MISTRAL_API_KEY', 'MISTRAL_BASE_URL', '/chat/completions', 'authorization', 'Bearer k'],
  ])('asks %s with its own key, address and header', async (provider, keyVariable, urlVariable, path, header, value) => {
    server = await wireServer([{ body: api('openai-compatible').stream({ text: 'yes' }) }])
    const model = createProviderModel(`${provider}/x`, { env: { [keyVariable]: 'k', [urlVariable]: server.url } })
    const { error } = await ask(model)
    expect(error).toBeUndefined()
    expect(server.requests.map((request) => [request.path, request.headers[header]])).toEqual([[path, value]])
    // Mistral always sends usage, and refuses a request that asks for it.
    const expected = provider === 'mistral' ? [false, true] : [true, true]
    const body = server.requests[0]?.body as object
    expect([Object.hasOwn(body, 'stream_options'), Object.hasOwn(body, 'stream')]).toEqual(expected)
  })

  it.each([
    ['groq', false],
    ['cerebras', false],
    ['mistral', false],
    ['deepseek', true],
  ])('sends %s thinking back: %s', async (provider, isSent) => {
    server = await wireServer([{ body: api('openai-compatible').stream({ text: 'yes' }) }])
    const model = createProviderModel(`${provider}/x`, { env: {}, apiKey: 'k', baseURL: server.url })
    const call = { type: 'tool-call' as const, id: 'call_1', name: 'look', input: {} }
    const thought = assistant([{ type: 'thinking', text: 'Hm.', model: `${provider}/x` }, call])
    await ask(model, { messages: [user('Look.'), thought, toolResult({ id: 'call_1', name: 'look', content: 'Seen.' })] })
    expect(JSON.stringify(server.requests[0]?.body).includes('Hm.')).toBe(isSent)
  })

  it.each([
    ['openai', 'v1', '/v1/responses'],
    ['openai-chat', 'v1', '/v1/chat/completions'],
    ['anthropic', '', '/v1/messages'],
    ['anthropic', 'v1', '/v1/messages'],
    ['google', '', '/v1beta/models/x:streamGenerateContent?alt=sse'],
    ['google', 'v1beta/', '/v1beta/models/x:streamGenerateContent?alt=sse'],
    ['openai-compatible', 'api/v1', '/api/v1/chat/completions'],
  ])('%s with the base URL /%s is requested at %s, without a key if none is set', async (provider, path, expected) => {
    server = await wireServer([{ body: api(provider).stream({ text: 'yes' }) }])
    const { text, error } = await ask(createProviderModel(`${provider}/x`, { baseURL: `${server.url}/${path}`, env: {} }))
    expect({ text, error }).toEqual({ text: 'yes', error: undefined })
    expect(server.requests[0]?.path).toBe(expected)
    const { authorization, 'x-api-key': anthropic, 'x-goog-api-key': google } = server.requests[0]?.headers ?? {}
    expect([authorization, anthropic, google]).toEqual([undefined, undefined, undefined])
  })

  it('sends headers of the caller, and keeps them out of messages', async () => {
    server = await wireServer([
      {
        status: 401,
        headers: { 'content-type': 'application/json' },
        body: '{"error":{"message":"token s3cret-token is wrong"}}',
      },
    ])
    const headers = { Authorization: 'Bearer s3cret-token', 'X-Team': 'blue' }
    const { error } = await ask(createProviderModel('openai-chat/x', { baseURL: `${server.url}/v1`, headers, env: {} }))
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer s3cret-token', 'x-team': 'blue' })
    expect(error?.message).not.toContain('s3cret-token')
  })

  it('finds Ollama at OLLAMA_HOST, without a key', async () => {
    server = await wireServer([{ body: api('openai-compatible').stream({ text: 'yes' }) }])
    const model = createProviderModel('ollama/llama3', { env: { OLLAMA_HOST: server.url.slice('http://'.length) } })
    expect((await ask(model)).text).toBe('yes')
    expect(server.requests[0]).toMatchObject({ path: '/v1/chat/completions', body: { model: 'llama3' } })
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
  })

  it('names a server that does not run, and a host that does not exist', async () => {
    const gone = await wireServer([])
    await gone[Symbol.asyncDispose]()
    const closed = await ask(createProviderModel('ollama/llama3', { env: { OLLAMA_HOST: gone.url } }))
    expect(closed.error).toMatchObject({ code: 'network', retryable: true })
    expect(closed.error?.message).toMatch(/nothing answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
    const blocked = await ask(createProviderModel('ollama/llama3', { env: { OLLAMA_HOST: '127.0.0.1:9' } }))
    expect(blocked.error).toMatchObject({
      code: 'network',
      retryable: false,
      message: expect.stringContaining('127.0.0.1:9') as string,
    })
    const missing = await ask(createProviderModel('openai-compatible/x', { baseURL: 'http://no-such-host.invalid/v1', env: {} }))
    expect(missing.error?.message).toMatch(/no-such-host\.invalid.*\((ENOTFOUND|EAI_AGAIN)\)/)
  })

  it('prefers facts of the caller to the catalogue', () => {
    const { facts } = createProviderModel('openai/gpt-5-mini', { env: {}, facts: { contextWindow: 1000 } })
    expect(facts).toMatchObject({ contextWindow: 1000, maxOutputTokens: 128_000, price: { input: 0.25 } })
  })
})

describe('providerStatus', () => {
  it('returns the configuration of a provider', () => {
    expect(providerStatus('openai', { env: { OPENAI_API_KEY: 'k' } })).toEqual({
      baseURL: 'https://api.openai.com/v1',
      keyVariable: 'OPENAI_API_KEY',
      hasKey: true,
      needsKey: true,
    })
    expect(providerStatus('anthropic', { env: { ANTHROPIC_BASE_URL: 'http://proxy' } })).toMatchObject({
      baseURL: 'http://proxy/v1',
      hasKey: false,
      needsKey: false,
    })
    expect(providerStatus('openai-compatible', { env: {} })).toMatchObject({ baseURL: undefined, needsKey: false })
  })
})

describe('base URLs', () => {
  it.each([
    ['https://api.example.com', undefined, 'https://api.example.com'],
    ['https://api.example.com/v1/', undefined, 'https://api.example.com/v1'],
    ['https://api.example.com', 'v1', 'https://api.example.com/v1'],
    ['https://api.example.com/v1', 'v1', 'https://api.example.com/v1'],
    ['https://api.example.com/v1beta/', 'v1', 'https://api.example.com/v1beta'],
    ['https://api.example.com/proxy', 'v1', 'https://api.example.com/proxy/v1'],
  ])('%s (%s) is %s', (given, version, expected) => {
    expect(normalizeBaseUrl(given, 'X', version)).toBe(expected)
  })

  it.each([
    ['ftp://user:hunter22@host/v1', 'ftp://…@host/v1'],
    ['http://me:hun/ter22@host/v1', 'http://…@host/v1'],
    ['http://me:p@ss/hunter22@host/v1', 'http://…@host/v1'],
    ['http://me:hun@ter22@ho st/v1', 'http://…@ho st/v1'],
    ['http://me:hunter22%40host/v1', 'http://…%40host/v1'],
    ['me:hunter22@host/v1', '…@host/v1'],
    ['me:hunter22@host:80/v1', '…@host:80/v1'],
    ['//me:hunter22@host/v1', '…@host/v1'],
    ['ws:/me:hunter22@host/v1', '…@host/v1'],
    [String.raw`ftp:\\me:hunter22@host/v1`, '…@host/v1'],
    ['http://me:hunter\n22@ho st/v1', 'http://…@ho st/v1'],
    ['localhost:8080', 'localhost:8080'],
  ])('the password in %s is not repeated', (given, shown) => {
    expect(() => normalizeBaseUrl(given, 'X')).toThrow(JSON.stringify(shown))
    expect(() => normalizeBaseUrl(given, 'X')).not.toThrow(/hun|ter22/)
  })

  it.each(['http://me:hun/ter22@host/v1', 'ws:/me:hunter22@host/v1', String.raw`ftp:\\me:hunter22@host`, 'me:80/hunter:22@host'])(
    'OLLAMA_HOST %s is refused, and no password is repeated',
    (host) => {
      expect(() => ollamaBaseUrl(host)).toThrow(/"[^"]*…@host/)
      expect(() => ollamaBaseUrl(host)).not.toThrow(/hun|ter22/)
    },
  )

  it('accepts an @ in the path', () => {
    expect(normalizeBaseUrl('https://host/models/small@001/v1', 'X')).toBe('https://host/models/small@001/v1')
  })

  it.each([
    [undefined, 'http://127.0.0.1:11434/v1'],
    ['', 'http://127.0.0.1:11434/v1'],
    ['127.0.0.1', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:8000', 'http://127.0.0.1:8000/v1'],
    [':8000', 'http://127.0.0.1:8000/v1'],
    ['gpu-box:8000', 'http://gpu-box:8000/v1'],
    ['gpu-box', 'http://gpu-box:11434/v1'],
    ['http://gpu-box', 'http://gpu-box:11434/v1'],
    ['https://ollama.example.com', 'https://ollama.example.com/v1'],
    ['http://gpu-box:8000/v1', 'http://gpu-box:8000/v1'],
    ['[::1]:11434', 'http://[::1]:11434/v1'],
  ])('OLLAMA_HOST %s is %s', (host, expected) => {
    expect(ollamaBaseUrl(host)).toBe(expected)
  })
})
