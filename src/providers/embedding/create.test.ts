import { afterEach, describe, expect, it } from 'vitest'
import { wireServer } from '../../../test/support/wire-server.ts'
import type { Received, Reply, WireServer } from '../../../test/support/wire-server.ts'
import { createEmbeddingModel } from './create.ts'
import { createLocalEmbeddingModel } from './local.ts'

let server: WireServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const json = (body: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Returns a vector `[length, 1]` for each text, in reverse order. */
function backwards({ body }: Received): Reply {
  const { input } = body as { input: string[] }
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 1] }))
  return json({ object: 'list', data: data.toReversed(), usage: { prompt_tokens: 1, total_tokens: 1 } })
}

describe('createEmbeddingModel', () => {
  it.each(['openai', 'ollama', 'openai-compatible'])(
    '%s/… gives one vector a text, in the order of the texts',
    async (provider) => {
      server = await wireServer(backwards)
      const model = createEmbeddingModel(`${provider}/small`, { baseURL: `${server.url}/v1`, apiKey: 'k', env: {} })
      expect(model.ref).toBe(`${provider}/small`)
      expect(await model.embed(['a', 'four', 'lone \ud800'])).toEqual([1, 4, 6].map((length) => Float32Array.of(length, 1)))
      expect(server.requests).toHaveLength(1)
      expect(server.requests[0]).toMatchObject({
        path: expect.stringMatching(/\/v1\/embeddings$/),
        body: { model: 'small', input: ['a', 'four', 'lone \ufffd'] },
      })
      expect(await model.embed([])).toEqual([])
      expect(server.requests).toHaveLength(1)
    },
  )

  it('google/… sends the purpose of the texts', async () => {
    server = await wireServer(({ path }) =>
      json(path.includes('batch') ? { embeddings: [{ values: [1] }, { values: [2] }] } : { embedding: { values: [3] } }),
    )
    const model = createEmbeddingModel('google/gemini-embedding-001', { baseURL: server.url, apiKey: 'k', env: {} })
    expect(await model.embed(['a', 'b'])).toEqual([Float32Array.of(1), Float32Array.of(2)])
    expect(await model.embed(['a'], { purpose: 'query' })).toEqual([Float32Array.of(3)])
    expect(server.requests.map(({ body }) => JSON.stringify(body).match(/RETRIEVAL_\w+/g))).toEqual([
      ['RETRIEVAL_DOCUMENT', 'RETRIEVAL_DOCUMENT'],
      ['RETRIEVAL_QUERY'],
    ])
    expect(model.maxBatch).toBe(100)
  })

  it('reads vectors in base64, which some servers send unasked', async () => {
    const embedding = Buffer.from(Float32Array.of(0.5, -2).buffer).toString('base64')
    server = await wireServer([json({ data: [{ index: 0, embedding }] })])
    const model = createEmbeddingModel('openai-compatible/x', { baseURL: server.url, env: {} })
    expect(await model.embed(['a'])).toEqual([Float32Array.of(0.5, -2)])
  })

  it('takes any AI SDK embedding model, and passes its signal on', async () => {
    const seen: unknown[] = []
    const model = createEmbeddingModel({
      specificationVersion: 'v4',
      provider: 'mine.embedding',
      modelId: 'tiny',
      maxEmbeddingsPerCall: 7,
      supportsParallelCalls: false,
      doEmbed: (options: { values: string[]; abortSignal: AbortSignal }) => {
        seen.push(options.values)
        const ended = new Promise<never>((_, reject) => {
          options.abortSignal.addEventListener('abort', () => reject(new Error('left')))
        })
        return options.values[0] === 'wait' ? ended : Promise.resolve({ embeddings: [[1, 0]] })
      },
    })
    expect(model).toMatchObject({ ref: 'mine/tiny', maxBatch: 7, parallel: false })
    expect(await model.embed(['a'])).toEqual([Float32Array.of(1, 0)])
    const controller = new AbortController()
    const waiting = model.embed(['wait'], { signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(seen).toEqual([['a'], ['wait']])
  })

  it.each([
    [json({ error: { message: 'slow down', type: 'rate_limit_error' } }, 429), { code: 'rate_limited', retryable: true }],
    [json({ error: { message: 'input array has 17 items, at most 16 allowed' } }, 400), { code: 'invalid_request' }],
    [json({ data: [] }), { code: 'invalid_response' }],
    [{ body: '<html><title>Proxy</title>' }, { code: 'invalid_response' }],
    [{ afterwards: 'before' } as const, { code: 'network' }],
  ])('an invalid answer is an error that names the fault', async (reply, expected) => {
    server = await wireServer([reply])
    const model = createEmbeddingModel('openai-compatible/x', { baseURL: server.url, apiKey: 'secret-key-1', env: {} })
    const failure = await model.embed(['a']).catch((error: unknown) => error)
    expect(failure).toMatchObject(expected)
    expect(JSON.stringify(failure)).not.toContain('secret-key-1')
  })

  it.each(['x', '/x', 'openai/', 'nope/x', 'anthropic/x'])('refuses the name %j', (ref) => {
    expect(() => createEmbeddingModel(ref, { env: {} })).toThrow(expect.objectContaining({ code: 'configuration' }))
  })

  it('reports a missing key, by name, at the first use', async () => {
    const model = createEmbeddingModel('openai/x', { env: {} })
    await expect(model.embed(['a'])).rejects.toMatchObject({ code: 'auth', message: expect.stringContaining('OPENAI_API_KEY') })
  })
})

describe('createLocalEmbeddingModel', () => {
  it('names the missing package', async () => {
    const model = createLocalEmbeddingModel('any', () => Promise.reject(new Error('Cannot find package')))
    await expect(model.embed(['a'])).rejects.toMatchObject({
      code: 'configuration',
      hint: 'Install it with: npm install @huggingface/transformers',
    })
  })

  it('opens its pipeline once and cuts the tensor into vectors', async () => {
    let opened = 0
    const model = createLocalEmbeddingModel('any', () =>
      Promise.resolve({
        pipeline: () => {
          opened++
          return Promise.resolve((texts: string[]) =>
            Promise.resolve({ dims: [texts.length, 2], data: Float32Array.from(texts.flatMap((text) => [text.length, 0])) }),
          )
        },
      }),
    )
    expect(await model.embed(['ab', 'c'])).toEqual([Float32Array.of(2, 0), Float32Array.of(1, 0)])
    await model.embed(['d'])
    expect(opened).toBe(1)
  })
})
