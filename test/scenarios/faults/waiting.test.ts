/** Tests failed requests: number and length of waits, and the choice of the next model. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CriaError, ERROR_CODES } from '../../../src/core/error.ts'
import type { ErrorCode } from '../../../src/core/error.ts'
import { SWITCH_REASONS } from '../../../src/core/event.ts'
import type { SwitchReason } from '../../../src/core/event.ts'
import * as cria from '../../../src/index.ts'
import { ScriptedModel } from '../../../src/providers/scripted/scripted-model.ts'
import type { Api } from '../../support/answers.ts'
import type { Reply } from '../../support/wire-server.ts'
import { forAll, ManualClock, play } from './played.ts'
import { ALL_APIS, answering, SAID, startWire } from './wire.ts'
import type { ServedModel, Wire } from './wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await startWire()
})
afterAll(() => wire[Symbol.asyncDispose]())

const refusal = (api: Api, status: number, headers: Readonly<Record<string, string>> = {}, code?: string): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(api.error('The words of the provider.', code)),
})
/** A clock on which waits of retries end at once; other waits never end. */
const NO_LIMITS = { firstToken: null, idle: null } as const

/** A clock that jumps to the end of each wait. */
class EagerClock extends ManualClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const over = super.sleep(ms, signal)
    this.advance(ms)
    return over
  }
}

describe.each(ALL_APIS)('$provider', (api) => {
  test.each([1, 2])(
    'ENG-ERR-002 %d failures of each kind, then the answer: one request more, one `retry` each',
    async (times) => {
      await forAll([408, 409, 429, 500, 502, 503, 504, 529], String, async (status) => {
        const clock = new EagerClock()
        const { model, requests } = wire.model(api, [
          ...Array.from({ length: times }, () => refusal(api, status)),
          answering(api, SAID),
        ])
        const turn = await play({ model, clock, timeouts: NO_LIMITS, retry: { initialDelay: 1000 } })
        expect(turn.last).toMatchObject({ type: 'complete', result: { text: SAID.text } })
        expect(requests).toHaveLength(times + 1)
        expect(turn.of('retry').map(({ attempt, delay, error }) => [attempt, delay, error.status])).toEqual(
          [500, 1000].slice(0, times).map((delay, index) => [index + 1, delay, status]),
        )
        expect(clock.waits).toEqual([500, 1000].slice(0, times))
        expect(turn.of('reset')).toEqual([])
      })
    },
  )

  test('ENG-ERR-004 an error that a retry cannot fix is tried once, and reported with the message of the provider', async () => {
    const quota = { openai: 'insufficient_quota', anthropic: 'billing_error', google: 'QUOTA_EXCEEDED' }[api.provider]
    const kinds: readonly (readonly [number, ErrorCode, string?])[] = [
      [400, 'invalid_request'],
      [401, 'auth'],
      [403, 'auth'],
      [413, 'invalid_request'],
      [422, 'invalid_request'],
      [402, 'quota'],
      [429, 'quota', quota ?? 'insufficient_quota'],
    ]
    await forAll(kinds, String, async ([status, code, providerCode]) => {
      const { model, requests } = wire.model(api, [refusal(api, status, { 'retry-after': '1' }, providerCode)])
      const backup = new ScriptedModel(['The backup speaks.'])
      const turn = await play({ model, fallbackModels: [backup] })
      expect(turn.last).toMatchObject({
        type: 'error',
        error: { code, status, retryable: false, message: expect.stringContaining('The words of the provider.') as string },
      })
      expect(JSON.stringify(turn.events)).not.toContain('a-key-of-no-worth')
      expect([requests.length, backup.requests.length]).toEqual([1, 0])
    })
    const { model, requests } = wire.model(api, [refusal(api, 404)])
    const alone = await play({ model })
    expect(alone.last).toMatchObject({
      type: 'error',
      error: { code: 'model_unavailable', message: expect.stringContaining(api.model.split('/')[1] ?? '') as string },
    })
    expect(requests).toHaveLength(1)
    const helped = await play({ model, fallbackModels: [new ScriptedModel(['The backup speaks.'])] })
    expect(helped.last).toMatchObject({ type: 'complete', result: { model: 'scripted/model' } })
    expect(helped.of('model_switch')).toMatchObject([{ reason: 'model_unavailable' }])
  })

  test('the header x-should-retry decides about a retry', async () => {
    const odd = wire.model(api, [refusal(api, 400, { 'x-should-retry': 'true' }), answering(api, SAID)])
    expect((await play({ model: odd.model })).last.type).toBe('complete')
    expect(odd.requests).toHaveLength(2)
    const final = wire.model(api, [refusal(api, 500, { 'x-should-retry': 'false' }), answering(api, SAID)])
    expect((await play({ model: final.model })).last).toMatchObject({ type: 'error', error: { retryable: false } })
    expect(final.requests).toHaveLength(1)
  })

  test('ENG-ERR-002 is retried after the wait of the provider, or at most a quarter later', async () => {
    const named: readonly (readonly [Record<string, string>, number])[] = [
      [{ 'retry-after': '2' }, 2000],
      [{ 'retry-after': '0.5' }, 500],
      [{ 'retry-after-ms': '1500' }, 1500],
      [{ 'retry-after': '60' }, 60_000],
    ]
    const cases = named.flatMap(([headers, asked]) => [0, 0.5, 0.999].map((chance) => ({ headers, asked, chance })))
    await forAll(cases, JSON.stringify, async ({ headers, asked, chance }) => {
      const clock = new EagerClock()
      const { model } = wire.model(api, [refusal(api, 429, headers), answering(api, SAID)])
      const turn = await play({ model, clock, timeouts: NO_LIMITS, random: () => chance })
      expect(turn.last.type).toBe('complete')
      expect(clock.waits).toEqual(turn.of('retry').map(({ delay }) => delay))
      expect(clock.waits).toHaveLength(1)
      expect(clock.waits[0]).toBeGreaterThanOrEqual(asked)
      expect(clock.waits[0]).toBeLessThanOrEqual(asked * 1.25)
    })
    const clock = new EagerClock()
    const date = new Date(Date.now() + 10_000).toUTCString()
    const { model } = wire.model(api, [refusal(api, 503, { 'retry-after': date }), answering(api, SAID)])
    await play({ model, clock, timeouts: NO_LIMITS })
    expect(clock.waits[0]).toBeGreaterThan(5000)
    expect(clock.waits[0]).toBeLessThanOrEqual(12_500)
  })

  test('an invalid Retry-After uses the default wait; one that is too long ends the turn or asks the fallback', async () => {
    const past = new Date(Date.now() - 60_000).toUTCString()
    await forAll(['-5', past, 'soon', '', 'NaN', '0'], String, async (value) => {
      const clock = new EagerClock()
      const { model, requests } = wire.model(api, [refusal(api, 429, { 'retry-after': value }), answering(api, SAID)])
      const turn = await play({ model, clock, timeouts: NO_LIMITS, retry: { initialDelay: 1000 } })
      expect(turn.last.type).toBe('complete')
      expect(clock.waits).toEqual([500])
      expect(requests).toHaveLength(2)
    })
    await forAll(['61', '31536000', '1e300', new Date(Date.now() + 86_400_000).toUTCString()], String, async (value) => {
      const clock = new EagerClock()
      const { model, requests } = wire.model(api, [refusal(api, 503, { 'retry-after': value })])
      const turn = await play({ model, clock, timeouts: NO_LIMITS })
      expect(turn.last).toMatchObject({
        type: 'error',
        error: { code: 'overloaded', message: expect.stringMatching(/requests a wait of \d/) as string },
      })
      expect([requests.length, clock.waits]).toEqual([1, []])
      const helped = await play({ model, clock, timeouts: NO_LIMITS, fallbackModels: [new ScriptedModel(['Here.'])] })
      expect(helped.last).toMatchObject({ type: 'complete', result: { text: 'Here.' } })
    })
  })

  test('waits stay below a doubling bound, and the error names the number of attempts', async () => {
    const clock = new EagerClock()
    const { model, requests } = wire.model(api, [refusal(api, 503)])
    const chances = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    let draw = 0
    const retry = { maxRetries: 6, initialDelay: 1000, maxDelay: 9000 }
    const turn = await play({ model, clock, timeouts: NO_LIMITS, retry, random: () => chances[draw++] ?? 0.5 })
    expect(clock.waits).toEqual([900, 1600, 2800, 4800, 4500, 3600])
    expect(requests).toHaveLength(7)
    expect(turn.last).toMatchObject({
      type: 'error',
      error: {
        code: 'overloaded',
        status: 503,
        message: expect.stringContaining('Gave up after 7 attempts.') as string,
        details: { attempts: 7 },
      },
    })
  })

  test('a turn without time for a wait ends with the failure at once', async () => {
    const clock = new ManualClock()
    const { model, requests } = wire.model(api, [refusal(api, 503)])
    const ticking = setInterval(() => clock.advance(100), 1)
    const retry = { maxRetries: 1000, initialDelay: 1000 }
    const turn = await play({ model, clock, timeouts: { ...NO_LIMITS, turn: 5000 }, retry })
    clearInterval(ticking)
    expect(turn.last).toMatchObject({
      type: 'error',
      error: { code: 'overloaded', status: 503 },
    })
    expect(turn.of('retry').reduce((sum, { delay }) => sum + delay, 0)).toBeLessThan(5000)
    expect(requests.length).toBeGreaterThan(1)
    expect(clock.asleep).toBe(0)
  })

  test('ENG-ERR-002 ENG-MODEL-001 the fallback answers, and is the model of the result', async () => {
    await forAll<readonly [number, SwitchReason]>(
      [
        [429, 'rate_limited'],
        [529, 'rate_limited'],
        [500, 'model_unavailable'],
        [408, 'model_unavailable'],
      ],
      String,
      async ([status, reason]) => {
        for (const maxRetries of [0, 2]) {
          const primary = wire.model(api, [refusal(api, status)])
          const backup = new ScriptedModel(
            [{ text: 'The backup speaks.', usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } }],
            {
              facts: { price: { input: 1_000_000, output: 1_000_000 } },
            },
          )
          const turn = await play({ model: primary.model, fallbackModels: [backup], retry: { maxRetries } })
          expect(turn.last).toMatchObject({ type: 'complete', result: { text: 'The backup speaks.', model: 'scripted/model' } })
          expect(turn.of('model_switch')).toMatchObject([{ from: api.model, to: 'scripted/model', reason, error: { status } }])
          expect(turn.of('retry')).toHaveLength(maxRetries)
          expect(primary.requests).toHaveLength(maxRetries + 1)
        }
      },
    )
  })
})

const api = ALL_APIS[0] as Api

describe('a long wait', () => {
  const limited = (seconds: number): Reply => refusal(api, 429, { 'retry-after': String(seconds) })
  const backupOf = (...script: ConstructorParameters<typeof ScriptedModel>): ScriptedModel => new ScriptedModel(...script)

  test('ENG-ERR-002 a healthy fallback is asked before a wait of more than three seconds', async () => {
    const clock = new EagerClock()
    const primary = wire.model(api, [limited(20), answering(api, SAID)])
    const turn = await play({
      model: primary.model,
      fallbackModels: [backupOf(['The backup speaks.'])],
      clock,
      timeouts: NO_LIMITS,
    })
    expect(turn.last).toMatchObject({ type: 'complete', result: { model: 'scripted/model' } })
    expect(clock.waits).toEqual([])
    expect(turn.of('model_switch')).toMatchObject([{ reason: 'rate_limited', error: { code: 'rate_limited', status: 429 } }])
  })

  test('ENG-DEGR-001 is made after all if the fallback fails finally, and the first model answers', async () => {
    const clock = new EagerClock()
    const primary = wire.model(api, [limited(20), answering(api, SAID)])
    const backup = backupOf([{ fail: { after: 0, error: new CriaError('auth', 'The key was refused.') } }])
    const turn = await play({ model: primary.model, fallbackModels: [backup], clock, timeouts: NO_LIMITS })
    expect(turn.last).toMatchObject({ type: 'complete', result: { model: api.model, text: SAID.text } })
    expect(turn.of('model_switch')).toMatchObject([
      { from: api.model, to: 'scripted/model', reason: 'rate_limited' },
      { from: 'scripted/model', to: api.model, reason: 'model_unavailable', error: { code: 'auth' } },
    ])
    expect(clock.waits).toEqual(turn.of('retry').map(({ delay }) => delay))
    expect(clock.waits).toHaveLength(1)
    expect(clock.waits[0]).toBeGreaterThanOrEqual(20_000)
  })

  test('ENG-DEGR-001 ends with the failures of every model if the retry fails too', async () => {
    const clock = new EagerClock()
    const primary = wire.model(api, [limited(20)])
    const broken = { fail: { after: 0, error: new CriaError('model_unavailable', 'Gone.') } }
    const turn = await play({
      model: primary.model,
      fallbackModels: [backupOf(() => broken)],
      clock,
      timeouts: NO_LIMITS,
    })
    expect(turn.last).toMatchObject({
      type: 'error',
      error: {
        code: 'rate_limited',
        details: { modelsBefore: [{ model: api.model }, { model: 'scripted/model', code: 'model_unavailable' }] },
      },
    })
    expect(primary.requests).toHaveLength(3)
  })

  test.each([{ timeouts: { turn: 15_000 } }, { budget: { ms: 15_000 } }])(
    'ENG-ERR-002 that is longer than the turn is not announced and not begun: %o',
    async (limit) => {
      const primary = wire.model(api, [limited(20)])
      const turn = await play({ model: primary.model, clock: new ManualClock(), ...limit })
      expect(turn.of('retry')).toEqual([])
      expect(turn.last).toMatchObject({
        type: 'error',
        error: { code: 'rate_limited', message: expect.stringContaining('longer than the turn has left') as string },
      })
    },
  )

  test.each<readonly [number, 'auth' | 'quota']>([
    [401, 'auth'],
    [402, 'quota'],
  ])('ENG-DEGR-001 after a status %d fallbackOn: %s asks the fallback', async (status, code) => {
    const primary = wire.model(api, [refusal(api, status)])
    const turn = await play({
      model: primary.model,
      fallbackModels: [backupOf(['The backup speaks.'])],
      fallbackOn: [code],
      clock: new EagerClock(),
      timeouts: NO_LIMITS,
    })
    expect(turn.last).toMatchObject({ type: 'complete', result: { model: 'scripted/model' } })
    expect(turn.of('model_switch')).toMatchObject([{ reason: 'model_unavailable', error: { code, status } }])
    expect(primary.requests).toHaveLength(1)
  })

  test('ENG-ERR-002 fallbackOn refuses other codes', async () => {
    expect(() => cria.query({ prompt: 'x', model: 'builtin/extractive', fallbackOn: ['policy' as never] })).toThrow(
      /fallbackOn\[0\]/,
    )
  })
})

describe('cool-down', () => {
  const setting = (): { clock: EagerClock; primary: ServedModel; backup: ScriptedModel } => ({
    clock: new EagerClock(),
    primary: wire.model(api, [refusal(api, 429), answering(api, SAID)]),
    backup: new ScriptedModel(() => 'The backup speaks.'),
  })

  test('ENG-ERR-002 a failed model is asked again in the first turn after its cool-down', async () => {
    const { clock, primary, backup } = setting()
    const options = { model: primary.model, fallbackModels: [backup], clock, timeouts: NO_LIMITS, retry: { maxRetries: 0 } }
    await play(options)
    expect([primary.requests.length, backup.requests.length]).toEqual([1, 1])

    clock.advance(59_000)
    const during = await play(options)
    expect(during.last).toMatchObject({ type: 'complete', result: { model: 'scripted/model' } })
    expect(during.events.slice(0, 2)).toMatchObject([
      { type: 'start', model: api.model },
      { type: 'model_switch', from: api.model, to: 'scripted/model', reason: 'rate_limited' },
    ])
    expect([primary.requests.length, backup.requests.length]).toEqual([1, 2])

    clock.advance(1000)
    const after = await play(options)
    expect(after.last).toMatchObject({ type: 'complete', result: { model: api.model, text: SAID.text } })
    expect(after.of('model_switch')).toEqual([])
  })

  test('ENG-ERR-002 a model in cool-down is asked if no other is left, and an answer ends the cool-down', async () => {
    const { clock, primary } = setting()
    const backup = new ScriptedModel([{ text: 'Yes.' }, { finish: null }, { text: 'No.' }])
    const options = { model: primary.model, fallbackModels: [backup], clock, timeouts: NO_LIMITS, retry: { maxRetries: 0 } }
    await play(options)
    const second = await play(options)
    expect(second.last).toMatchObject({ type: 'complete', result: { text: SAID.text, model: api.model } })
    expect(second.of('model_switch').map(({ to }) => to)).toEqual(['scripted/model', api.model])
    const third = await play(options)
    expect(third.last).toMatchObject({ type: 'complete', result: { text: SAID.text, model: api.model } })
    expect(third.of('model_switch')).toEqual([])
  })

  test('ENG-ERR-002 a provider may ask for a longer cool-down; without one, every turn begins with the first model', async () => {
    const clock = new EagerClock()
    const primary = wire.model(api, [refusal(api, 429, { 'retry-after': '300' }), answering(api, SAID)])
    const backup = new ScriptedModel(() => 'The backup speaks.')
    const options = { model: primary.model, fallbackModels: [backup], clock, timeouts: NO_LIMITS }
    await play(options)
    clock.advance(299_000)
    expect((await play(options)).last).toMatchObject({ result: { model: 'scripted/model' } })
    expect((await play({ ...options, retry: { coolDown: 0 } })).last).toMatchObject({ result: { model: api.model } })
    expect(primary.requests).toHaveLength(2)
  })

  test('ENG-ERR-002 cool-downs distinguish model objects of the same name', async () => {
    const { clock, primary, backup } = setting()
    const options = { fallbackModels: [backup], clock, timeouts: NO_LIMITS, retry: { maxRetries: 0 } }
    await play({ ...options, model: primary.model })
    const other = wire.model(api, [answering(api, SAID)])
    expect((await play({ ...options, model: other.model })).last).toMatchObject({ result: { model: api.model } })
  })

  test('ENG-ERR-002 a name is the same model in every turn if the base URL is the same', async () => {
    const clock = new EagerClock()
    const options = {
      model: 'openai-compatible/a',
      fallbackModels: ['openai-compatible/b'],
      clock,
      timeouts: NO_LIMITS,
      retry: { maxRetries: 0 },
    }
    const compatible = ALL_APIS[2] as Api
    const at = async (served: ServedModel): Promise<string> => {
      process.env['OPENAI_COMPATIBLE_BASE_URL'] = served.baseURL
      const turn = await play(options)
      return turn.last.type === 'complete' ? turn.last.result.model : turn.last.type
    }
    const here = wire.model(compatible, [refusal(compatible, 503), answering(compatible, SAID)])
    const there = wire.model(compatible, [answering(compatible, SAID)])
    expect([await at(here), await at(here), await at(there)]).toEqual([
      'openai-compatible/b',
      'openai-compatible/b',
      'openai-compatible/a',
    ])
    delete process.env['OPENAI_COMPATIBLE_BASE_URL']
  })
})

test('CORE-SIMPLE-005 an unstreamed answer may take longer than a first token, and a timeout is not retried', async () => {
  const clock = new ManualClock()
  const slow = (ms: number): ScriptedModel =>
    new ScriptedModel(() => ({ text: 'At last.', before: (part) => (part === 0 ? clock.advance(ms) : undefined) }))
  const patient = slow(130_000)
  expect((await play({ model: patient, stream: false, clock })).last).toMatchObject({ result: { text: 'At last.' } })
  expect(patient.requests).toHaveLength(1)
  const endless = slow(300_000)
  expect((await play({ model: endless, stream: false, clock })).last).toMatchObject({
    type: 'error',
    error: { code: 'timeout', retryable: false, hint: expect.stringContaining('timeouts.whole') as string },
  })
  expect(endless.requests).toHaveLength(1)
})

test('ENG-ERR-006 codes and reasons are exported, closed and complete lists', () => {
  expect(cria.ERROR_CODES).toBe(ERROR_CODES)
  expect(cria.SWITCH_REASONS).toBe(SWITCH_REASONS)
  expect(SWITCH_REASONS).toEqual(['context_too_large', 'rate_limited', 'model_unavailable', 'specialized_task', 'default'])
  const required: readonly ErrorCode[] = [
    'aborted',
    'rate_limited',
    'overloaded',
    'context_length',
    'model_unavailable',
    'auth',
    'quota',
    'policy',
    'invalid_request',
    'network',
    'timeout',
    'stream_interrupted',
    'tool_failure',
    'permission_denied',
    'budget_exceeded',
    'max_steps',
    'no_assistant_message',
    'configuration',
  ]
  expect(Object.keys(ERROR_CODES)).toEqual(expect.arrayContaining([...required]))
  for (const { retryable } of Object.values(ERROR_CODES)) expect(typeof retryable).toBe('boolean')
})
