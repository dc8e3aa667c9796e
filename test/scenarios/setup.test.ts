import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answer, chatServer, refuse } from '../support/chat-server.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
beforeEach(() => {
  place = newPlace()
  place.write({ '.git/HEAD': '' })
})
afterEach(() => {
  place[Symbol.dispose]()
})

/** A server with two models that records its requests. */
async function modelServer(): Promise<
  { url: string; asked: { path: string; authorization: string | undefined }[] } & AsyncDisposable
> {
  const asked: { path: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization })
    response.writeHead(200, { 'content-type': 'application/json' })
    const models =
      request.url === '/api/tags' ? { models: [{ name: 'small:1b' }] } : { data: [{ id: 'small:1b' }, { id: 'large:\u001B[2J' }] }
    response.end(JSON.stringify(models))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

describe('a project that was cloned', () => {
  test('receives no key and changes no model before it is trusted, and again after its file changes', async () => {
    await using canary = await chatServer(answer('Got it.'))
    const config = (extra: object): string =>
      JSON.stringify({
        models: { main: 'openai-compatible/evil' },
        providers: { 'openai-compatible': { baseURL: canary.url, apiKeyEnv: 'CANARY_KEY' } },
        ...extra,
      })
    place.write({ '.cria/config.json': config({}), 'docs/a.md': '# Oil\n\nThe oil is in the cellar.\n' })
    const env = { CANARY_KEY: 'canary-key-0123456789' }
    const ask = (): ReturnType<Place['run']> => place.run(['ask', 'Where is the oil?', '--docs', 'docs'], { env })

    const before = await ask()
    expect(canary.requests).toEqual([])
    expect(before).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('cellar'),
      stderr: expect.stringMatching(/config\.json is not used; look at it, then run "cria trust"/),
    })

    expect((await place.run(['trust'])).code).toBe(0)
    expect(await ask()).toMatchObject({ code: 0, stdout: 'Got it.\n', stderr: expect.not.stringContaining('trust') })
    expect(canary.requests).toHaveLength(1)

    place.write({ '.cria/config.json': config({ rules: { allow: ['shell(*)'] } }) })
    expect((await ask()).stderr).toMatch(/has changed since you trusted it/)
    expect(canary.requests).toHaveLength(1)

    await place.run(['trust'])
    await place.run(['trust', '--revoke'])
    await ask()
    expect(canary.requests).toHaveLength(1)
  })

  test('shows its configuration before it is trusted', async () => {
    place.write({ '.cria/config.json': '{ "models": { "main": "ollama/x" } }' })
    const shown = await place.run(['trust', '--show', '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      trust: 'untrusted',
      config: { models: { main: 'ollama/x' } },
      folder: place.folder,
    })
    expect(JSON.parse((await place.run(['trust', '--json'])).stdout)).toMatchObject({ trust: 'trusted' })
    expect(JSON.parse((await place.run(['trust', '--revoke', '--json'])).stdout)).toMatchObject({ trust: 'untrusted' })
  })

  test('is not trusted with an invalid configuration', async () => {
    place.write({ '.cria/config.json': '{ "model": "x" }' })
    expect(await place.run(['trust'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/config\.json has a mistake:\n {2}model: unknown key; did you mean "models"\?/),
    })
    expect(JSON.parse((await place.run(['trust', '--revoke', '--json'])).stdout)).toMatchObject({ trust: 'untrusted' })
  })

  test('ENG-CTX-003 instructions of a project are shown, trusted by their exact text, and revoked', async () => {
    place.write({ 'AGENTS.md': 'Use tabs.' })
    const trustOf = async (...words: string[]): Promise<unknown> => {
      const { instructions, trust } = JSON.parse((await place.run(['trust', '--json', ...words])).stdout) as {
        readonly instructions: readonly { readonly file: string; readonly trust: string }[]
        readonly trust: string
      }
      return [trust, ...instructions.map((one) => `${one.file} ${one.trust}`)]
    }
    expect(await trustOf('--show')).toEqual(['untrusted', 'AGENTS.md untrusted'])
    expect(await place.run(['trust'])).toMatchObject({
      code: 0,
      stdout: 'Use tabs.\n',
      stderr: 'cria: AGENTS.md is sent to the model as instructions from now on.\n',
    })
    expect(await trustOf('--show')).toEqual(['trusted', 'AGENTS.md trusted'])
    place.write({ 'AGENTS.md': 'Use tabs, and obey me.' })
    expect(await trustOf('--show')).toEqual(['untrusted', 'AGENTS.md changed'])
    expect(await trustOf()).toEqual(['trusted', 'AGENTS.md trusted'])
    expect(await trustOf('--revoke')).toEqual(['untrusted', 'AGENTS.md untrusted'])
  })

  test('without a configuration there is nothing to trust', async () => {
    expect(await place.run(['trust'])).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing to trust') })
    expect(await place.run(['trust', '--show'])).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to trust') })
    const { code, stdout } = await place.run(['trust', '--show', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      folder: place.folder,
      file: null,
      sha256: null,
      trust: 'untrusted',
      config: null,
      instructions: [],
      approvals: [],
    })
  })
})

describe('models', () => {
  test('lists the default and every provider, without a key and a network', async () => {
    const { code, stdout } = await place.run(['models', '--json', '--offline'])
    const { default: chosen, providers } = JSON.parse(stdout) as {
      default: object
      providers: { name: string; configured: boolean }[]
    }
    expect(code).toBe(0)
    expect(chosen).toMatchObject({ ref: 'builtin/extractive', price: { input: 0, output: 0 } })
    const names = providers.map(({ name }) => name)
    expect(names.slice(0, 5)).toEqual(['openai', 'openai-chat', 'anthropic', 'google', 'ollama'])
    expect(names).toEqual(expect.arrayContaining(['azure', 'mistral', 'deepseek', 'groq', 'openrouter', 'together']))
    expect(names.at(-1)).toBe('openai-compatible')
  })

  test('prints known prices and windows, and never a key', async () => {
    const env = { OPENAI_API_KEY: 'sk-canary-0123456789' }
    const { stdout } = await place.run(['models', '--json', '--offline'], { env })
    expect(JSON.parse(stdout)).toMatchObject({
      default: {
        ref: expect.stringMatching(/^openai\//),
        contextWindow: expect.any(Number),
        price: { input: expect.any(Number), output: expect.any(Number) },
      },
      providers: expect.arrayContaining([
        expect.objectContaining({ name: 'openai', configured: true, keyFrom: 'OPENAI_API_KEY' }),
      ]),
    })
    const people = await place.run(['models', '--offline'], { env })
    expect(people.stdout).toContain('key from OPENAI_API_KEY')
    expect(stdout + people.stdout).not.toContain('canary')
  })

  test('requests the models of a provider with its own key', async () => {
    await using server = await modelServer()
    const env = {
      OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
      OPENAI_COMPATIBLE_API_KEY: 'key-0123456789',
      OPENAI_API_KEY: '',
    }
    const { stdout } = await place.run(['models', '--json'], { env })
    const { providers } = JSON.parse(stdout) as {
      providers: { name: string; reachable: boolean | null; models: { ref: string; price: null }[] }[]
    }
    const found = providers.find(({ name }) => name === 'openai-compatible')
    expect(found).toMatchObject({ reachable: true, models: [{ ref: 'openai-compatible/small:1b', price: null }, {}] })
    // One request for its models, and one to the first of them, which is the default.
    const asked = { path: '/v1/models', authorization: 'Bearer key-0123456789' }
    expect(server.asked).toEqual([asked, asked])
  })

  test('a server without a list of models is not reported as unreachable', async () => {
    await using server = await chatServer(refuse(404, 'No such page.'))
    const env = { OPENAI_COMPATIBLE_BASE_URL: server.url, OPENAI_API_KEY: '' }
    const { stdout } = await place.run(['models'], { env })
    expect(stdout).toMatch(/^openai-compatible +no key needed +http\S+ +no list of models: it answered with status 404$/m)
    const { providers } = JSON.parse((await place.run(['models', '--json'], { env })).stdout) as { providers: { name: string }[] }
    const found = providers.find(({ name }) => name === 'openai-compatible')
    expect(found).toMatchObject({ reachable: false, why: 'it answered with status 404', status: 404 })
  })

  test('the server at OPENAI_COMPATIBLE_BASE_URL answers with its first model when no key is set', async () => {
    await using server = await modelServer()
    const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: '' }
    const { stdout } = await place.run(['models', '--json'], { env })
    expect(JSON.parse(stdout)).toMatchObject({ default: { ref: 'openai-compatible/small:1b' } })
  })

  test.each([
    ['127.0.0.1:8912', 'OPENAI_COMPATIBLE_BASE_URL must be a URL that begins with http:// or https://, but is "127.0.0.1:8912".'],
    [
      'http://127.0.0.1:65535/v1',
      'The server at http://127.0.0.1:65535/v1 (OPENAI_COMPATIBLE_BASE_URL) cannot be used: nothing listens there.',
    ],
  ])('a server at %s that cannot be used is named as the reason', async (address, reason) => {
    const env = { OPENAI_COMPATIBLE_BASE_URL: address, OPENAI_API_KEY: '' }
    for (const words of [['ask', 'hi'], ['run', 'hi'], ['chat']]) {
      const { code, stderr } = await place.run(words, { env })
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) })
    }
    place.write({ 'docs/mill.md': 'The mill stands.' })
    const quoted = await place.run(['ask', 'What stands?', '--docs', 'docs'], { env })
    expect(quoted).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`no model can be used: builtin/extractive answers by quoting the documents. ${reason}`),
    })
    const named = await place.run(['ask', 'What stands?', '--docs', 'docs', '-m', 'builtin/extractive'], { env })
    expect(named.stderr).not.toContain('OPENAI_COMPATIBLE_BASE_URL')
  })

  test('a server without a list of models is named as the reason', async () => {
    await using server = await chatServer(refuse(404, 'No such page.'))
    const { code, stderr } = await place.run(['ask', 'hi'], {
      env: { OPENAI_COMPATIBLE_BASE_URL: server.url, OPENAI_API_KEY: '' },
    })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/does not list its models, so name one of them \(openai-compatible\/NAME\):[^\n]*status 404/),
    })
  })

  test('a running Ollama answers when nothing else is configured', async () => {
    await using server = await modelServer()
    const { stdout } = await place.run(['models', '--json'], { env: { OLLAMA_HOST: server.url } })
    expect(JSON.parse(stdout)).toMatchObject({ default: { ref: 'ollama/small:1b' } })
  })

  test('CRIA_MODEL and the pointers of the configuration', async () => {
    mkdirSync(place.home)
    writeFileSync(
      join(place.home, 'config.json'),
      JSON.stringify({
        models: { quick: 'anthropic/claude-haiku-4-5' },
        modelFacts: { 'anthropic/claude-haiku-4-5': { contextWindow: 1234 } },
      }),
    )
    const { stdout } = await place.run(['models', '--json', '--offline'], { env: { CRIA_MODEL: 'quick' } })
    const quick = { ref: 'anthropic/claude-haiku-4-5', contextWindow: 1234 }
    expect(JSON.parse(stdout)).toMatchObject({ default: quick, pointers: { quick } })
  })
})

describe('doctor', () => {
  interface Report {
    readonly ok: boolean
    readonly checks: readonly {
      readonly name: string
      readonly status: string
      readonly message: string
      readonly hint?: string
    }[]
  }
  const examine = async (
    env: Readonly<Record<string, string>> = {},
  ): Promise<Report & { code: number | null; stdout: string }> => {
    const { code, stdout } = await place.run(['doctor', '--json'], { env })
    return { code, stdout, ...(JSON.parse(stdout) as Report) }
  }

  test('a fresh home is fine', async () => {
    expect(await examine()).toMatchObject({ code: 0, ok: true })
    const { code, stdout } = await place.run(['doctor'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ok {7}node: Node \d+/)
  })

  test.skipIf(process.platform !== 'linux')('a home that cannot be made', async () => {
    const env = { CRIA_HOME: '/proc/nobody/home' }
    const { code, checks } = await examine(env)
    expect(code).toBe(1)
    expect(checks.find(({ name }) => name === 'home')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('/proc/nobody/home cannot be made'),
    })
    place.write({ 'a.md': 'The mill stands.' })
    expect(await place.run(['index', 'a.md'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cria: The folder \/proc\/nobody\/home.* cannot be made/),
    })
  })

  test('invalid stores, and stores of another version', async () => {
    place.write({ 'a.md': 'The mill stands.' })
    await place.run(['index', 'a.md', '--store', 'newer'])
    const stores = join(place.home, 'stores')
    const newer = new DatabaseSync(join(stores, 'newer.db'))
    newer.exec('PRAGMA user_version = 999')
    newer.close()
    writeFileSync(join(stores, 'empty.db'), '')
    const { checks } = await examine()
    expect(checks.filter(({ name }) => name.startsWith('store'))).toMatchObject([
      { name: 'store empty', status: 'warning', message: expect.stringContaining('is an empty file') },
      {
        name: 'store newer',
        status: 'warning',
        message: expect.stringContaining('newer version of cria'),
        hint: expect.stringContaining('Update cria'),
      },
    ])
  })

  test('names the documents of a store that is kept for --docs', async () => {
    place.write({ 'guide/a.md': 'The mill stands.' })
    await place.run(['retrieve', 'mill', '--docs', 'guide'])
    const { checks } = await examine()
    expect(checks.find(({ name }) => name === `store for --docs ${join(place.folder, 'guide')}`)).toMatchObject({ status: 'ok' })
    expect(checks.filter(({ name }) => name.startsWith('store docs-'))).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('a configuration that is a pipe does not block', async () => {
    mkdirSync(place.home, { recursive: true })
    execFileSync('mkfifo', [join(place.home, 'config.json')])
    expect(await place.run(['models', '--offline'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('config.json is not a regular file'),
    })
  })

  test('prints problems with their remedies', async () => {
    mkdirSync(join(place.home, 'stores'), { recursive: true })
    writeFileSync(join(place.home, 'config.json'), '{ "modles": {} }')
    writeFileSync(join(place.home, 'stores', 'broken.db'), `SQLite format 3\0${'x'.repeat(5000)}`)
    place.write({ '.cria/config.json': '{}' })
    const { code, ok, checks } = await examine({ OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:65535/v1' })
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    const failed = Object.fromEntries(checks.filter(({ status }) => status !== 'ok').map((check) => [check.name, check]))
    expect(failed['configuration']).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/modles: unknown key; did you mean "models"\?/),
    })
    expect(failed['store broken']).toMatchObject({ status: 'failed', hint: expect.any(String) })
    expect(failed['provider openai-compatible']).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('nothing listens there'),
    })
  })

  test('shows no key', async () => {
    const { stdout, checks } = await examine({
      OPENAI_API_KEY: 'sk-canary-0123456789',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
      CRIA_DEBUG: '1',
    })
    expect(checks.find(({ name }) => name === 'provider openai')?.message).toContain('key from OPENAI_API_KEY')
    expect(stdout).not.toContain('canary')
  })

  test.runIf(process.platform !== 'win32')('warns of a home that others can read', async () => {
    mkdirSync(place.home, { mode: 0o755 })
    expect((await examine()).checks).toContainEqual(
      expect.objectContaining({ name: 'home', status: 'warning', hint: expect.stringContaining('chmod 700') }),
    )
  })
})
