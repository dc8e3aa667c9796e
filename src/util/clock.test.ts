import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { steadyClock, systemClock } from './clock.ts'

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
