import { describe, expect, test } from 'vitest'
import { answer, chatServer, sendDelta, startStream } from '../support/chat-server.ts'
import type { Reply } from '../support/chat-server.ts'
import { eachScene } from './command-line.ts'
import type { Ended } from './command-line.ts'

const MODEL = 'openai-compatible/test'
/** US dollars per million tokens. */
const PRICE = { input: 100, output: 1000 }

const scene = eachScene()

async function serve(reply: Reply): Promise<Readonly<Record<string, string>>> {
  scene.server = await chatServer(reply)
  return { OPENAI_COMPATIBLE_BASE_URL: scene.server.url }
}

function configure(budget: object, facts: object = { price: PRICE, maxOutputTokens: 200 }): void {
  scene.place.configure({ budget, modelFacts: { [MODEL]: facts } })
}

function limitOf(body: string): number | undefined {
  return (JSON.parse(body) as { max_tokens?: number }).max_tokens
}

const ask = (env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<Ended> =>
  scene.place.run(['ask', 'Is it?', '-m', MODEL, ...words], { env })

describe('--max-cost', () => {
  test('limits the output tokens to the budget', async () => {
    configure({})
    const env = await serve(answer('Yes.'))
    expect(await ask(env, '--max-cost', '0.1')).toEqual({ code: 0, stdout: 'Yes.\n', stderr: '' })
    const limit = limitOf(scene.server?.requests[0] ?? '{}') ?? Infinity
    expect(limit).toBeGreaterThan(50)
    expect(limit).toBeLessThan(100)
  })

  test('ends with 5 before a request that it does not cover, with the remaining amount', async () => {
    configure({})
    const env = await serve(answer('Yes.'))
    const { code, stdout, stderr } = await ask(env, '--max-cost', '0.01')
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
    expect(stderr).toMatch(
      /^cria: The budget of this turn is \$0\.01: \$0\.00 used so far; the next request needs at least \$0\.0\d+/,
    )
    expect(scene.server?.requests).toEqual([])
    const { stdout: shown } = await scene.place.run(['logs', 'show', 'last', '--json'])
    expect(JSON.parse(shown)).toMatchObject({ turn: { status: 'failed', error: { code: 'budget_exceeded' }, costUsd: 0 } })
  })

  test('refuses a model of unknown price with 2, and explains how to set a price', async () => {
    const env = await serve(answer('Yes.'))
    const { code, stderr } = await ask(env, '--max-cost', '1')
    expect(code).toBe(2)
    expect(stderr).toContain('{"modelFacts": {"openai-compatible/test": {"price":')
    expect(stderr).toContain('in config.json. Or leave out --max-cost, and "budget" in config.json.')
    expect(scene.server?.requests).toEqual([])
  })

  test('charges a fallback at its own price', async () => {
    scene.place.configure({
      modelFacts: { [MODEL]: { price: { input: 0, output: 0 } }, 'openai-compatible/dear': { price: PRICE } },
    })
    const env = await serve((response, request) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"no such model","code":"model_not_found"}}')
      request.resume()
    })
    const { code } = await ask(env, '--fallback', 'openai-compatible/dear', '--max-cost', '0.001')
    expect(code).toBe(5)
    expect(scene.server?.requests).toHaveLength(1)
  })
})

describe('budgets in config.json', () => {
  test('time: a turn beyond the limit ends with 5, and keeps the partial answer', async () => {
    configure({ turn: { ms: 700 } })
    const env = await serve((response) => {
      startStream(response)
      sendDelta(response, 'Half an ans')
    })
    const { code, stdout } = await ask(env)
    expect({ code, stdout }).toEqual({ code: 5, stdout: 'Half an ans\n' })
    expect(scene.server?.aborted()).toBe(1)
  })

  test('a session', async () => {
    configure({ session: { tokens: 240 } })
    const env = await serve(answer('Yes.'))
    const first = JSON.parse((await ask(env, '--json')).stdout) as { sessionId: string }
    const { code, stderr } = await ask(env, '--session', first.sessionId)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    configure({ session: { tokens: 100 } })
    expect((await ask(env, '--session', first.sessionId)).code).toBe(5)
    expect((await ask(env)).code).toBe(0)
  })

  test('budgets of sessions need the journal', async () => {
    configure({ day: { costUsd: 1 } })
    const { code, stderr } = await ask(await serve(answer('Yes.')), '--no-log')
    expect(code).toBe(2)
    expect(stderr).toContain('--no-log')
  })

  test('mistakes are reported', async () => {
    configure({ day: { cost: 1 } })
    expect(await ask({})).toMatchObject({ code: 2, stderr: expect.stringContaining('budget.day.cost: unknown key') })
  })
})

test(
  'ENG-METRIC-002 commands that run at the same time never spend more than the budget of the day',
  { timeout: 90_000 },
  async () => {
    const limit = 0.8
    configure({ day: { costUsd: limit } })
    let charged = 0
    let request = 0
    const env = await serve((response) => {
      const number = request++
      const body = scene.server?.requests[number] ?? ''
      const input = Math.ceil(body.length / 4)
      // Every third answer uses its full output limit.
      const output = Math.round((limitOf(body) ?? 200) * (number % 3 === 0 ? 1 : 0.4))
      charged += (input * PRICE.input + output * PRICE.output) / 1_000_000
      setTimeout(() => {
        startStream(response)
        sendDelta(response, 'Yes.')
        const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
        response.end(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'test', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`,
        )
      }, 150)
    })
    const endings = await Promise.all(Array.from({ length: 12 }, () => ask(env)))
    const done = endings.filter(({ code }) => code === 0).length
    expect(endings.filter(({ code }) => code !== 0 && code !== 5)).toEqual([])
    expect(done).toBe(scene.server?.requests.length)
    expect(done).toBeGreaterThanOrEqual(3)
    expect(done).toBeLessThan(12)

    // One request after the other until the budget is used up.
    let last = await ask(env)
    for (let round = 0; last.code === 0 && round < 20; round++) last = await ask(env)
    expect(last.code).toBe(5)
    expect(last.stderr).toContain('The budget of today (UTC) is $0.8')
    expect(charged).toBeLessThanOrEqual(limit)
    expect(charged).toBeGreaterThan(limit - 0.25)
  },
)
