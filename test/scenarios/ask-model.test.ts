import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { answer, chatServer, endStream, refuse, sendDelta, startStream } from '../support/chat-server.ts'
import type { Reply } from '../support/chat-server.ts'
import { eachScene } from './command-line.ts'
import type { Ended, RunOptions, Running } from './command-line.ts'

const MODEL = ['-m', 'openai-compatible/test']

const scene = eachScene()

async function serve(reply: Reply): Promise<NonNullable<RunOptions['env']>> {
  scene.server = await chatServer(reply)
  return { OPENAI_COMPATIBLE_BASE_URL: scene.server.url }
}

async function lastTurn(): Promise<{
  turn: { status: string; text: string; question: string; usage: object; costUsd: number | null; traceId: string }
  events: readonly { type: string }[]
}> {
  const { stdout } = await scene.place.run(['logs', 'show', 'last', '--json'])
  return JSON.parse(stdout) as Awaited<ReturnType<typeof lastTurn>>
}

describe('--cache', () => {
  test('ENG-CACHE-001 an equal question is answered from the journal at no cost, in another process too', async () => {
    const env = { ...(await serve(answer('Yes.'))), OPENAI_COMPATIBLE_API_KEY: 'sk-canary-1234567890' }
    const ask = async (...words: string[]): Promise<{ answer: string; usage: object; turnId: string }> => {
      const { code, stdout, stderr } = await scene.place.run(['ask', 'Is it?', ...MODEL, '--json', ...words], { env })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return JSON.parse(stdout) as { answer: string; usage: object; turnId: string }
    }
    await ask('--cache')
    expect(await ask('--cache')).toMatchObject({ answer: 'Yes.', usage: { inputTokens: 0, outputTokens: 0 }, costUsd: 0 })
    expect(scene.server?.requests).toHaveLength(1)
    const { turn } = (await lastTurn()) as { turn: { metrics?: { cacheHit: boolean } } }
    expect(turn.metrics?.cacheHit).toBe(true)
    await ask()
    await ask('--cache', '--thinking')
    expect(scene.server?.requests).toHaveLength(3)
    const other = await scene.place.run(['ask', 'Is it?', '--cache', '--no-log', ...MODEL], { env })
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('--cache and --no-log exclude each other') })
  })
})

test('CORE-SIMPLE-025 a home that cannot be written is reported in one line, which --no-log hides', async () => {
  const env = { ...(await serve(answer('Yes.'))), CRIA_HOME: '/proc/nobody/home' }
  const { code, stdout, stderr } = await scene.place.run(['ask', 'Is it?', ...MODEL], { env })
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Yes.\n' })
  expect(stderr).toMatch(/^cria: turns are not recorded: .*\/proc\/nobody.*[^.]; --no-log hides this\.\n$/)
  expect(await scene.place.run(['ask', 'Is it?', ...MODEL, '--no-log'], { env })).toMatchObject({ code: 0, stderr: '' })
})

describe('--no-switch', () => {
  test('ENG-MODEL-001 the named model is the only one asked, and pointers name a model', async () => {
    const env = await serve(refuse(503, 'Down.', { 'retry-after': '3600' }))
    scene.place.configure({ models: { quick: 'openai-compatible/small' }, fallbackModels: ['openai-compatible/other'] })
    const modelsOf = (): unknown[] => (scene.server?.requests ?? []).map((body) => (JSON.parse(body) as { model: unknown }).model)
    expect((await scene.place.run(['ask', 'Is it?', '-m', 'quick', '--no-switch'], { env })).code).toBe(3)
    expect(modelsOf()).toEqual(['small'])
    expect((await scene.place.run(['ask', 'Is it?', '-m', 'quick'], { env })).code).toBe(3)
    expect(modelsOf()).toEqual(['small', 'small', 'other'])
    const both = await scene.place.run(['ask', 'Is it?', '-m', 'quick', '--no-switch', '--fallback', 'main'], { env })
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--fallback and --no-switch exclude each other') })
  })
})

describe('a model over HTTP', () => {
  test('the answer is streamed to standard output as it arrives', async () => {
    let finish = (): void => {}
    const env = await serve((response) => {
      startStream(response)
      sendDelta(response, 'The first part. ')
      finish = () => {
        sendDelta(response, 'The second.')
        endStream(response)
      }
    })
    const running = scene.place.start(['ask', 'What is it?', ...MODEL], { env })
    await running.shows('The first part. ')
    finish()
    expect(await running.ended).toEqual({ code: 0, stdout: 'The first part. The second.\n', stderr: '' })
  })

  test('--json prints one object, --events one event per line', async () => {
    const env = await serve(answer('Yes.'))
    const json = await scene.place.run(['ask', 'Is it?', ...MODEL, '--json'], { env })
    expect(JSON.parse(json.stdout)).toMatchObject({
      answer: 'Yes.',
      abstained: false,
      citations: [],
      model: 'openai-compatible/test',
      finishReason: 'stop',
      usage: { inputTokens: 12, outputTokens: 3 },
      costUsd: null,
    })
    const { stdout } = await scene.place.run(['ask', 'Is it?', ...MODEL, '--events'], { env })
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; seq: number })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index))
    expect(events.at(0)?.type).toBe('start')
    expect(events.at(-1)?.type).toBe('complete')
  })

  test('a question from standard input, right-to-left and with emoji', async () => {
    const env = await serve(answer('Yes.'))
    const question = 'هل هذا 🏴‍☠️ "AND" OR NEAR( x:y* ?'
    await scene.place.run(['ask', '-', ...MODEL], { env, input: `${question}\n` })
    expect((await lastTurn()).turn.question).toBe(question)
  })

  test('a session is continued', async () => {
    const env = await serve(answer('Yes.'))
    const first = JSON.parse((await scene.place.run(['ask', 'My name is Ada.', ...MODEL, '--json'], { env })).stdout) as {
      sessionId: string
    }
    const second = await scene.place.run(['ask', 'What is my name?', ...MODEL, '--session', first.sessionId, '--json'], { env })
    expect(JSON.parse(second.stdout)).toMatchObject({ sessionId: first.sessionId })
    expect(scene.server?.requests[1]).toContain('My name is Ada.')
    expect(second.stderr).not.toContain('session')
  })

  test('a session that does not exist is created, with a warning on standard error', async () => {
    const env = await serve(answer('Yes.'))
    const own = await scene.place.run(['ask', 'Hello?', ...MODEL, '--session', 'my project', '--json'], { env })
    expect(JSON.parse(own.stdout)).toMatchObject({ sessionId: 'my project' })
    expect(own.stderr).toContain('there is no session "my project" in the journal: this turn starts it.\n')
    const mistyped = await scene.place.run(['ask', 'Hello?', ...MODEL, '--session', 'my projcet'], { env })
    expect(mistyped.stderr).toContain('this turn starts it. Did you mean my project?')
    const tool = await scene.place.run(['run', 'Look.', ...MODEL, '--session', 'my project 2'], { env })
    expect(tool.stderr).toContain('there is no session "my project 2" in the journal')
  })
})

describe('exit codes of failures, without a stack trace', () => {
  const fails = async (reply: Reply, words: readonly string[] = [], env: RunOptions['env'] = {}): Promise<Ended> => {
    const ended = await scene.place.run(['ask', 'Is it?', ...MODEL, ...words], { env: { ...(await serve(reply)), ...env } })
    expect(ended.stderr).toMatch(/^cria: /m)
    expect(ended.stderr).not.toMatch(/^\s+at /m)
    return ended
  }

  test('a refused key ends with 3, and the key is not printed', async () => {
    const key = 'canary-key-0123456789'
    const { code, stdout, stderr } = await fails(refuse(401, `Incorrect API key provided: ${key}`), [], {
      OPENAI_COMPATIBLE_API_KEY: key,
      CRIA_DEBUG: '',
    })
    expect(code).toBe(3)
    const shown = await scene.place.run(['logs', 'show', 'last', '--json'])
    for (const text of [stdout, stderr, shown.stdout]) expect(text).not.toContain(key)
    expect((await lastTurn()).turn.status).toBe('failed')
  })

  test('a stream that breaks off after text ends with 3 and keeps the text', async () => {
    const { code, stdout } = await fails((response) => {
      startStream(response)
      sendDelta(response, 'Half an ans')
      setTimeout(() => response.destroy(), 50)
    })
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'Half an ans\n' })
    expect((await lastTurn()).turn).toMatchObject({ status: 'failed', text: 'Half an ans' })
  })

  test('with --json a failure is an object with the partial answer', async () => {
    const { code, stdout } = await fails(refuse(400, 'bad request'), ['--json'])
    expect(code).toBe(3)
    const { usage, costUsd, traceId } = (await lastTurn()).turn
    expect(JSON.parse(stdout)).toMatchObject({
      answer: '',
      usage,
      costUsd,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      error: { code: expect.any(String), message: expect.any(String) },
    })
    expect(JSON.parse(stdout)).toHaveProperty('traceId', traceId)
  })
})

describe('interruption', () => {
  const hanging: Reply = (response) => {
    startStream(response)
    sendDelta(response, 'Half an ans')
  }
  const startHanging = async (words: readonly string[] = []): Promise<Running> => {
    const running = scene.place.start(['ask', 'Is it?', ...MODEL, ...words], { env: await serve(hanging) })
    await running.shows('Half an ans')
    return running
  }

  test('Ctrl-C keeps the partial answer in terminal and journal, closes the connection and ends with 130', async () => {
    const running = await startHanging()
    running.process.kill('SIGINT')
    const { code, stdout, stderr } = await running.ended
    expect({ code, stdout }).toEqual({ code: 130, stdout: 'Half an ans\n' })
    expect(stderr).toContain('cria logs show')
    expect(scene.server?.aborted()).toBe(1)
    expect((await lastTurn()).turn).toMatchObject({ status: 'cancelled', text: 'Half an ans' })
  })

  test('SIGTERM keeps the partial answer too, and ends with 143', async () => {
    const running = await startHanging()
    running.process.kill('SIGTERM')
    expect((await running.ended).code).toBe(143)
    expect((await lastTurn()).turn.status).toBe('cancelled')
  })

  test('with --json an object is printed on interruption too', async () => {
    const running = scene.place.start(['ask', 'Is it?', ...MODEL, '--json'], { env: await serve(hanging) })
    await expect.poll(() => scene.server?.requests.length).toBe(1)
    running.process.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ cancelled: expect.any(String), turnId: expect.any(String) })
  })

  test('a signal after the answer does not change the exit code', async () => {
    let asked = 0
    const collector = createServer(() => void asked++)
    await new Promise<void>((resolve) => void collector.listen(0, '127.0.0.1', resolve))
    const { port } = collector.address() as AddressInfo
    try {
      const env = { ...(await serve(answer('Yes.'))), OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
      const running = scene.place.start(['ask', 'Is it?', ...MODEL], { env })
      await expect.poll(() => asked, { timeout: 10_000 }).toBeGreaterThan(0)
      running.process.kill('SIGINT')
      expect(await running.ended).toMatchObject({ code: 0, stdout: 'Yes.\n' })
    } finally {
      collector.closeAllConnections()
      collector.close()
    }
  })

  test('a closed standard output ends the turn without an error message', async () => {
    let timer: NodeJS.Timeout | undefined
    const env = await serve((response) => {
      startStream(response)
      sendDelta(response, 'Half an ans')
      timer = setInterval(() => sendDelta(response, ' and more'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const running = scene.place.start(['ask', 'Is it?', ...MODEL], { env })
    await running.shows('Half an ans')
    running.process.stdout.destroy()
    const { code, stderr } = await running.ended
    expect([0, 141]).toContain(code)
    expect(stderr).not.toMatch(/EPIPE|Error/)
    expect((await lastTurn()).turn.status).toBe('cancelled')
  })
})

describe('a model without a key or a server', () => {
  test.each([['ask'], ['run']])(
    'cria %s without a key is wrong usage: nothing is asked, nothing is recorded',
    async (command) => {
      const { code, stdout, stderr } = await scene.place.run([command, 'x', '-m', 'openai/gpt-5'], {
        env: { OPENAI_API_KEY: '' },
      })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain('openai: there is no API key. Set OPENAI_API_KEY in the environment')
      // One run is enough.
      expect(stderr.match(/Set OPENAI_API_KEY/g)).toHaveLength(1)
      expect((await scene.place.run(['logs', 'list'])).stderr).toContain('no turns')
    },
  )

  test('a fallback model needs no key until it is called', async () => {
    const env = { ...(await serve(answer('Yes.'))), OPENAI_API_KEY: '' }
    const { code, stdout } = await scene.place.run(['ask', 'x', ...MODEL, '--fallback', 'openai/gpt-5'], { env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Yes.\n' })
  })

  test('a failed provider is not reported as overloaded', async () => {
    const env = await serve(refuse(500, 'Something broke.', { 'x-should-retry': 'false' }))
    const { code, stderr } = await scene.place.run(['ask', 'x', ...MODEL], { env })
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('The provider failed on its side: try later') })
  })
})
