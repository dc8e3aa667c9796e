import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasRecordings, recordings, replayServer, warnThatRecordingsAreMissing } from '../support/shared-wire.ts'
import { answer, chatServer, refuse } from '../support/chat-server.ts'
import type { Reply } from '../support/chat-server.ts'
import { eachScene } from './command-line.ts'

const KEY = 'sk-canary-0123456789'

const scene = eachScene()

interface Check {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly hint?: string
}

async function examine(
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<{ code: number | null; stdout: string; of: (provider: string) => Check | undefined }> {
  const { code, stdout } = await scene.place.run(['doctor', '--json', ...words], { env })
  const { checks } = JSON.parse(stdout) as { checks: readonly Check[] }
  return { code, stdout, of: (provider) => checks.find(({ name }) => name === `provider ${provider}`) }
}

/** A server that lists a model, and answers a question as `reply` does. */
async function serve(reply: Reply, models: readonly string[] = ['small']): Promise<string> {
  scene.server = await chatServer((response, request) => {
    if (request.url?.endsWith('/models') !== true) return reply(response, request)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: models.map((id) => ({ id })) }))
    return undefined
  })
  return scene.server.url
}

const page: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end('<!doctype html><title>Welcome to nginx!</title>')
}

describe('doctor sends each configured provider one tiny question', () => {
  test('and prints the model that answered', async () => {
    const url = await serve(answer('ok'))
    const { code, of } = await examine({ OPENAI_COMPATIBLE_BASE_URL: url })
    expect(code).toBe(0)
    expect(of('openai-compatible')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/answers: openai-compatible\/small in \d+ ms, 15 tokens/),
    })
    const asked = scene.server?.requests.filter((body) => body !== '') ?? []
    expect(asked).toHaveLength(1)
    expect(JSON.parse(asked[0] ?? '{}')).toMatchObject({ model: 'small', max_tokens: 16 })
    expect((await scene.place.run(['logs', 'list', '--json'])).stdout).toContain('"turns":[]')
  })

  test('to the model of the user rather than a listed one', async () => {
    scene.place.configure({ models: { quick: 'openai-compatible/chosen' } })
    const url = await serve(answer('ok'), ['first', 'chosen'])
    expect((await examine({ OPENAI_COMPATIBLE_BASE_URL: url })).of('openai-compatible')?.message).toContain(
      'openai-compatible/chosen',
    )
  })

  test('and none with --offline', async () => {
    const url = await serve(answer('ok'))
    const { of } = await examine({ OPENAI_COMPATIBLE_BASE_URL: url }, '--offline')
    expect(of('openai-compatible')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('was not asked'),
      skipped: true,
    })
    expect(scene.server?.requests).toEqual([])
    const { stdout } = await scene.place.run(['doctor', '--offline'], { env: { OPENAI_COMPATIBLE_BASE_URL: url } })
    expect(stdout).toMatch(/^– {8}provider openai-compatible: .* was not asked/m)
  })
})

describe('doctor explains', () => {
  test('a refused key, which is a failure if no other provider answers, and never printed', async () => {
    scene.server = await chatServer(refuse(401, `Incorrect API key provided: ${KEY}`))
    const { code, stdout, of } = await examine({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: scene.server.url })
    expect(code).toBe(1)
    expect(of('openai')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/key from OPENAI_API_KEY: openai answered 401.*Incorrect API key/),
      hint: expect.stringContaining('OPENAI_API_KEY'),
    })
    expect(stdout).not.toContain('canary')
  })

  test('a key that is refused before the models are listed', async () => {
    scene.server = await chatServer(refuse(401, 'no'))
    expect((await examine({ OPENAI_COMPATIBLE_BASE_URL: scene.server.url })).of('openai-compatible')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('the key was refused (status 401)'),
    })
  })

  test('a model that does not exist', async () => {
    scene.place.configure({ models: { main: 'openai-compatible/smal' } })
    const url = await serve((response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"model smal not found","code":"model_not_found"}}')
    })
    expect((await examine({ OPENAI_COMPATIBLE_BASE_URL: url })).of('openai-compatible')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('model smal not found'),
      hint: expect.stringContaining('cria models'),
    })
  })

  test('a web page in place of an API', async () => {
    scene.server = await chatServer(page)
    const { of } = await examine({
      OPENAI_COMPATIBLE_BASE_URL: scene.server.url,
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: scene.server.url,
    })
    expect(of('openai-compatible')?.message).toContain('is not a model API: it sent HTML')
    expect(of('anthropic')?.message).toContain('web page (“Welcome to nginx!”)')
  })

  test('a server that is not running', async () => {
    await using gone = await chatServer(page)
    const { url } = gone
    await gone[Symbol.asyncDispose]()
    expect((await examine({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url })).of('openai')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('nothing listens there'),
    })
  })

  test('a server that hangs up', async () => {
    scene.server = await chatServer((response) => void response.destroy())
    expect((await examine({ OPENAI_COMPATIBLE_BASE_URL: scene.server.url })).of('openai-compatible')?.message).toContain(
      'the connection was closed without an answer',
    )
  })

  test('a server without a list of models', async () => {
    scene.server = await chatServer(refuse(404, 'no such path'))
    expect((await examine({ OPENAI_COMPATIBLE_BASE_URL: scene.server.url })).of('openai-compatible')).toMatchObject({
      status: 'warning',
      hint: expect.stringContaining('"openai-compatible/NAME"'),
    })
  })
})

describe('doctor starts the configured MCP servers', () => {
  const served = (...words: readonly string[]): object => ({
    command: process.execPath,
    args: [join(import.meta.dirname, '../support/mcp-server.ts'), ...words],
  })
  const servers = async (...words: readonly string[]): Promise<{ code: number | null; checks: readonly Check[] }> => {
    const { code, stdout } = await scene.place.run(['doctor', '--json', ...words])
    const { checks } = JSON.parse(stdout) as { checks: readonly Check[] }
    return { code, checks: checks.filter(({ name }) => name.startsWith('MCP server ')) }
  }

  test('and reports for each whether it works, and why not', async () => {
    scene.place.configure({
      mcpServers: {
        files: served('honest'),
        gone: { command: 'no-such-program-anywhere' },
        dead: served('dies-at-once'),
        bombs: served('bombs'),
        token: { url: 'https://mcp.example.org', headers: { Authorization: 'Bearer ${NO_SUCH_VARIABLE}' } },
        off: { ...served('honest'), disabled: true },
      },
    })
    const { code, checks } = await servers()
    // A broken MCP server is not a failure of doctor.
    expect(code).toBe(0)
    expect(checks.map(({ name, status, message }) => [name.slice('MCP server '.length), status, message.split('\n')[0]])).toEqual(
      [
        ['files', 'ok', 'starts, and has 10 tools'],
        ['gone', 'warning', expect.stringMatching(/^cannot be used: .*ENOENT/)],
        ['dead', 'warning', expect.stringMatching(/^cannot be used: /)],
        ['bombs', 'warning', expect.stringMatching(/^starts, and has \d+ of its tools: /)],
        ['token', 'warning', expect.stringContaining('NO_SUCH_VARIABLE')],
        ['off', 'ok', 'disabled'],
      ],
    )
    expect(checks.find(({ name }) => name.endsWith('dead'))?.message).toContain('cannot find the database')
  })

  test('but none with --offline, and those of a project only once it is trusted', async () => {
    const canary = join(scene.place.folder, 'started')
    scene.place.write({
      '.cria/config.json': JSON.stringify({ mcpServers: { own: { ...served('started-file', canary), sandbox: 'off' } } }),
    })
    expect((await servers()).checks).toEqual([])
    await scene.place.run(['trust'])
    expect((await servers('--offline')).checks).toMatchObject([{ status: 'ok', message: 'was not started' }])
    expect(existsSync(canary)).toBe(false)
    expect((await servers()).checks).toMatchObject([{ name: 'MCP server own', status: 'ok' }])
    const pid = Number(readFileSync(canary, 'utf8').trim())
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})

if (!hasRecordings) warnThatRecordingsAreMissing()
test.skipIf(!hasRecordings)('doctor reads recorded answers of real providers', async () => {
  const replay = await replayServer()
  try {
    for (const [api, prefix, variable] of [
      ['openai-responses', 'openai', 'OPENAI'],
      ['anthropic-messages', 'anthropic', 'ANTHROPIC'],
    ] as const) {
      const recording = recordings(api).find(
        ({ stream, status, scenario }) => stream && status === 200 && scenario.includes('text'),
      )
      if (recording === undefined) continue
      scene.place.configure({ models: { main: `${prefix}/any` } })
      const env = { [`${variable}_API_KEY`]: KEY, [`${variable}_BASE_URL`]: `${replay.url}/${recording.name}/v1` }
      expect((await examine(env)).of(prefix)).toMatchObject({
        status: 'ok',
        message: expect.stringContaining(`${prefix}/any in`),
      })
    }
  } finally {
    await replay.close()
  }
})
