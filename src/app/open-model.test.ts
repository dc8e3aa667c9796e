import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, test, vi } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { createModel } from './models.ts'
import { defaultModel, resolveModel } from './open-model.ts'

// As at a server that takes longer to connect than the probe for a local server waits.
vi.mock('../util/listens.ts', () => ({ listens: () => Promise.resolve(false) }))

let home: string
folderForEach((folder) => {
  home = folder
  vi.stubEnv('CRIA_HOME', home)
})
afterEach(() => vi.unstubAllEnvs())

const configure = (config: object): void => writeFileSync(join(home, 'config.json'), JSON.stringify(config))

test.each([undefined, null, 5, {}])('createModel(%j) reports the expected values', (ref) => {
  expect(() => createModel(ref as never)).toThrow(/createModel\(\) takes the name of a model, like openai\/gpt-5-mini, but got/)
})

describe('resolveModel', () => {
  it('accepts names, pointers of the configuration, and models', () => {
    configure({ models: { quick: 'openai/gpt-5-mini' } })
    expect(resolveModel('anthropic/claude-sonnet-4-5').ref).toBe('anthropic/claude-sonnet-4-5')
    expect(resolveModel('quick').ref).toBe('openai/gpt-5-mini')
    const model = new ScriptedModel([])
    expect(resolveModel(model)).toBe(model)
  })

  it.each([
    ['reasoning', /not set/],
    ['llama3', /provider\/model, and "llama3" has no provider\. Write ollama\/llama3/],
    ['opneai/gpt-5', /did you mean "openai\/gpt-5"\?$/],
    ['builtin/other', /builtin\/extractive/],
    [7, /name like/],
  ])('rejects %j with advice', (model, message) => {
    expect(() => resolveModel(model as string)).toThrow(message)
  })
})

describe('defaultModel', () => {
  it('is CRIA_MODEL, else main, else the first provider with a key; without any of these the error says what to set', async () => {
    const failure = await defaultModel().catch((error: unknown) => error)
    expect(failure).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('No model was named') as string,
    })
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-some-key')
    expect((await defaultModel()).ref).toMatch(/^anthropic\//)
    configure({ models: { main: 'google/gemini-2.5-flash', task: 'openai/gpt-5' } })
    expect((await defaultModel()).ref).toBe('google/gemini-2.5-flash')
    vi.stubEnv('CRIA_MODEL', 'task')
    expect((await defaultModel()).ref).toBe('openai/gpt-5')
  })

  it('says why the server of OPENAI_COMPATIBLE_BASE_URL cannot be used', async () => {
    vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', '127.0.0.1:8912')
    await expect(defaultModel()).rejects.toThrow(/OPENAI_COMPATIBLE_BASE_URL must be a URL that begins with http/)
    const server = createServer((_request, response) => response.end('{"data":[]}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
      await expect(defaultModel()).rejects.toThrow(/\(OPENAI_COMPATIBLE_BASE_URL\) lists no models\.$/)
    } finally {
      server.close()
    }
  })

  it('waits for the server of OPENAI_COMPATIBLE_BASE_URL, however long it takes to connect', async () => {
    const server = createServer((_request, response) => response.end('{"data":[{"id":"m"}]}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
      expect((await defaultModel()).ref).toBe('openai-compatible/m')
    } finally {
      server.close()
    }
  })
})
