import { describe, expect, it } from 'vitest'
import { backoff } from './backoff.ts'

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
