/** Processes that a test has started, or that something it started has. */

import { readFileSync } from 'node:fs'
import { expect, vi } from 'vitest'

/** One that has ended and that nobody has reaped is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    // Where there is no `/proc`, those that were not reaped cannot be told.
    return process.platform !== 'linux'
  }
}

/** Fails when it does not come true within ten seconds. */
export async function until(holds: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(holds()).toBe(true), { timeout: 10_000, interval: 25 })
}
