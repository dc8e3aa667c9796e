import { describe, expect, it } from 'vitest'
import { CriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import { FALLBACK_CODES, givenUp, recover } from './recover.ts'
import type { AttemptState, RetryPolicy } from './recover.ts'

const policy: RetryPolicy = { maxRetries: 2, initialDelay: 1000, maxDelay: 60_000, afterOutput: 'retry', coolDown: 0 }
const fresh: AttemptState = { retries: 0, shown: false, fallback: 'none', timeLeft: Infinity, random: 0.5 }

describe('recover', () => {
  it.each<[ErrorCode, Partial<AttemptState>, Partial<RetryPolicy>, string]>([
    ['rate_limited', {}, {}, 'retry'],
    ['rate_limited', { retries: 1 }, {}, 'retry'],
    ['rate_limited', { retries: 2 }, {}, 'fail'],
    ['rate_limited', { retries: 2, fallback: 'healthy' }, {}, 'switch rate_limited'],
    ['rate_limited', { fallback: 'healthy' }, { maxRetries: 0 }, 'switch rate_limited'],
    ['overloaded', { retries: 2, fallback: 'healthy' }, {}, 'switch model_unavailable'],
    ['network', { retries: 2, fallback: 'healthy' }, {}, 'switch model_unavailable'],
    ['timeout', {}, {}, 'retry'],
    ['stream_interrupted', { shown: true }, {}, 'retry'],
    ['stream_interrupted', { shown: true }, { afterOutput: 'error' }, 'fail'],
    ['stream_interrupted', { shown: true, fallback: 'healthy' }, { afterOutput: 'error' }, 'fail'],
    ['stream_interrupted', { shown: false }, { afterOutput: 'error' }, 'retry'],
    ['model_unavailable', {}, {}, 'fail'],
    ['model_unavailable', { fallback: 'healthy' }, {}, 'switch model_unavailable'],
    ['context_length', { fallback: 'healthy' }, {}, 'overflow'],
    ['auth', { fallback: 'healthy' }, {}, 'fail'],
    ['quota', { fallback: 'healthy' }, {}, 'fail'],
    ['policy', { fallback: 'healthy' }, {}, 'fail'],
    ['invalid_request', { fallback: 'healthy' }, {}, 'fail'],
    ['internal', { fallback: 'healthy' }, {}, 'fail'],
  ])('ENG-ERR-002 %s with %o and %o: %s', (code, state, overrides, expected) => {
    const recovery = recover(new CriaError(code, ''), { ...fresh, ...state }, { ...policy, ...overrides })
    expect(recovery.action === 'switch' ? `switch ${recovery.reason}` : recovery.action).toBe(expected)
  })

  it('ENG-ERR-002 retries any error that says it is retryable', () => {
    const odd = new CriaError('invalid_request', '', { retryable: true })
    expect(recover(odd, fresh, policy)).toEqual({ action: 'retry', delay: 500 })
    const final = new CriaError('overloaded', '', { retryable: false })
    expect(recover(final, fresh, policy)).toEqual({ action: 'fail' })
    expect(recover(final, { ...fresh, fallback: 'healthy' }, policy).action).toBe('switch')
  })

  it.each<[number, Partial<AttemptState>, string]>([
    [2000, { fallback: 'healthy' }, 'retry'],
    [20_000, { fallback: 'healthy' }, 'switch'],
    [20_000, { fallback: 'cooling' }, 'retry'],
    [20_000, { fallback: 'none' }, 'retry'],
    [20_000, { fallback: 'none', timeLeft: 22_000 }, 'fail'],
    [20_000, { fallback: 'cooling', timeLeft: 22_000 }, 'switch'],
  ])('ENG-ERR-002 a Retry-After of %d ms with %o: %s', (retryAfterMs, state, expected) => {
    const error = new CriaError('rate_limited', '', { details: { retryAfterMs } })
    expect(recover(error, { ...fresh, ...state }, policy).action).toBe(expected)
  })

  it.each(FALLBACK_CODES)('ENG-DEGR-001 %s leads to a fallback where fallbackOn names it', (code) => {
    const error = new CriaError(code, '')
    expect(recover(error, { ...fresh, fallback: 'healthy' }, policy, [code])).toEqual({
      action: 'switch',
      reason: 'model_unavailable',
    })
    expect(recover(error, fresh, policy, [code])).toEqual({ action: 'fail' })
  })

  it.each([
    [2000, { action: 'retry', delay: 2500 }],
    [60_000, { action: 'retry', delay: 66_000 }],
    [60_001, { action: 'fail' }],
    [-5, { action: 'retry', delay: 500 }],
    [Number.NaN, { action: 'retry', delay: 500 }],
    ['soon', { action: 'retry', delay: 500 }],
  ])('ENG-ERR-002 honours a Retry-After of %s ms within the cap', (retryAfterMs, expected) => {
    const error = new CriaError('rate_limited', '', { details: { retryAfterMs } })
    expect(recover(error, fresh, policy)).toEqual(expected)
  })
})

describe('givenUp', () => {
  const limited = new CriaError('rate_limited', 'openai: too fast.', { status: 429, details: { retryAfterMs: 120_000 } })
  const busy = new CriaError('overloaded', 'openai: too busy.', { status: 503, hint: 'Wait.' })

  it('adds the number of attempts to the error, and keeps its other members', () => {
    expect(givenUp(busy, 1, policy)).toBe(busy)
    const error = givenUp(busy, 3, policy)
    expect(error.message).toBe('openai: too busy. Gave up after 3 attempts.')
    expect(error.toJSON()).toMatchObject({
      code: 'overloaded',
      status: 503,
      hint: 'Wait.',
      retryable: true,
      details: { attempts: 3 },
    })
    expect(error.cause).toBe(busy)
  })

  it('adds a full stop to a message without one', () => {
    expect(givenUp(new CriaError('overloaded', 'openai answered 503: busy'), 2, policy).message).toBe(
      'openai answered 503: busy. Gave up after 2 attempts.',
    )
  })

  it('names a requested wait that exceeds the limit', () => {
    expect(givenUp(limited, 1, policy).message).toBe(
      'openai: too fast. It requests a wait of 120 s, which is longer than `retry.maxDelay`.',
    )
    expect(givenUp(limited, 1, { ...policy, maxDelay: 120_000 })).toBe(limited)
    expect(givenUp(limited, 1, { ...policy, maxDelay: 120_000 }, [], 5000).message).toBe(
      'openai: too fast. It requests a wait of 120 s, which is longer than the turn has left.',
    )
  })
})

it('ENG-ERR-002 spreads the retries of many calls with one Retry-After over a second and more', () => {
  const limited = new CriaError('rate_limited', 'Slow down.', { details: { retryAfterMs: 1000 } })
  const delays = Array.from({ length: 100 }, (_, at) => {
    const recovery = recover(
      limited,
      { retries: 0, shown: false, fallback: 'none', timeLeft: Infinity, random: at / 100 },
      policy,
    )
    return recovery.action === 'retry' ? recovery.delay : 0
  })
  const within = (ms: number): number =>
    Math.max(...delays.map((first) => delays.filter((delay) => delay >= first && delay < first + ms).length))
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(1000)
  expect(within(100)).toBeLessThanOrEqual(11)
})
