import { describe, expect, it } from 'vitest'
import { CriaError, MaxRetriesExceededError } from '../core/error.ts'
import { retryWithBackoff } from './retry.ts'

const down = new CriaError('network', 'Down.')

/** Fails so many times, then answers; notes each wait. */
function flaky(failures: number, error: unknown = down) {
  let calls = 0
  const waits: number[] = []
  const clock = { now: () => 0, sleep: (ms: number) => (waits.push(ms), Promise.resolve()) }
  async function* operation(): AsyncGenerator<string, string> {
    yield `try ${++calls}`
    if (calls <= failures) throw error
    return 'done'
  }
  return { operation, clock, waits, calls: () => calls }
}

async function drain<T>(generator: AsyncGenerator<T, unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  try {
    for (;;) {
      const next = await generator.next()
      if (next.done === true) return [...seen, next.value]
      seen.push(next.value)
    }
  } catch (error) {
    return [...seen, error]
  }
}

describe('retryWithBackoff', () => {
  it('ENG-RETRY-001 yields a notice before each wait, whose bound doubles with jitter below it', async () => {
    const { operation, clock, waits } = flaky(2)
    const seen = await drain(retryWithBackoff(operation, { clock, random: () => 0.5 }))
    expect(seen).toMatchObject([
      'try 1',
      { type: 'retry', attempt: 1, delay: 500 },
      'try 2',
      { type: 'retry', attempt: 2, delay: 1000 },
      'try 3',
      'done',
    ])
    expect(waits).toEqual([500, 1000])
  })

  it('ENG-RETRY-001 makes maxRetries attempts in all, does not wait after the last, and throws with the last error as cause', async () => {
    const { operation, clock, waits, calls } = flaky(99)
    const error = (await drain(retryWithBackoff(operation, { maxRetries: 3, clock }))).at(-1)
    expect(error).toBeInstanceOf(MaxRetriesExceededError)
    expect(error).toMatchObject({ code: 'max_retries', cause: down })
    expect([calls(), waits.length]).toEqual([3, 2])
  })

  it('ENG-RETRY-001 rethrows an error that is not retryable unchanged', async () => {
    for (const error of [new CriaError('auth', 'No.'), new TypeError('Bug.'), 'a string']) {
      const { operation, clock, calls } = flaky(1, error)
      expect((await drain(retryWithBackoff(operation, { clock }))).at(-1)).toBe(error)
      expect(calls()).toBe(1)
    }
  })

  it('ENG-RETRY-001 can be aborted while it waits', async () => {
    const { operation, calls } = flaky(99)
    const controller = new AbortController()
    const generator = retryWithBackoff(operation, { signal: controller.signal, initialDelay: 1_000_000, random: () => 1 })
    await generator.next()
    await generator.next()
    const waiting = generator.next()
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(calls()).toBe(1)
  })
})
