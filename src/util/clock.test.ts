import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { backoff, steadyClock, systemClock } from './clock.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const DAY = 86_400_000

it.each([0, 1, 1000, DAY, 2 ** 31 - 1, 2 ** 31, 40 * DAY, 400 * DAY])('sleeps for %d ms, and not less', async (ms) => {
  let over = false
  const sleep = systemClock.sleep(ms).then(() => {
    over = true
  })
  if (ms > 0) {
    await vi.advanceTimersByTimeAsync(ms - 1)
    expect(over).toBe(false)
  }
  await vi.advanceTimersByTimeAsync(1)
  await sleep
  expect(vi.getTimerCount()).toBe(0)
})

it('sleeps without a limit until it is aborted', async () => {
  const controller = new AbortController()
  const sleep = systemClock.sleep(Infinity, controller.signal)
  await vi.advanceTimersByTimeAsync(1000 * DAY)
  controller.abort(new Error('enough'))
  await expect(sleep).rejects.toThrow('enough')
  expect(vi.getTimerCount()).toBe(0)
  await expect(systemClock.sleep(1, controller.signal)).rejects.toThrow('enough')
})

describe('steadyClock', () => {
  it('continues steadily from its start when the system clock is set', () => {
    const clock = steadyClock()
    const before = clock.now()
    expect(Math.abs(before - Date.now())).toBeLessThan(1000)
    const set = vi.spyOn(Date, 'now').mockReturnValue(0)
    try {
      const after = clock.now()
      expect(after).toBeGreaterThanOrEqual(before)
      expect(after - before).toBeLessThan(10_000)
      expect(Number.isSafeInteger(after)).toBe(true)
    } finally {
      set.mockRestore()
    }
  })
})

const policy = { initialDelay: 1000, maxDelay: 60_000 }

describe('backoff', () => {
  it('has a bound that doubles up to the cap, and jitter below it', () => {
    const bounds = [1, 2, 3, 4, 5, 6, 7, 8].map((retry) => backoff(retry, policy, 1))
    expect(bounds).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    expect(backoff(3, policy, 0.25)).toBe(1000)
  })

  it('waits at least a tenth of the bound', () => {
    expect(backoff(3, policy, 0)).toBe(400)
    expect(backoff(3, policy, 0.1)).toBe(400)
  })
})
