/** Checks processes that a test, or one of its child processes, has started. */

import { readFileSync } from 'node:fs'
import { expect, vi } from 'vitest'

/** Returns whether a process is alive; a zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    // Zombies cannot be recognised without `/proc`.
    return process.platform !== 'linux'
  }
}

/** Fails if the condition does not hold within ten seconds. */
export async function until(holds: () => boolean): Promise<void> {
  await vi.waitFor(() => expect(holds()).toBe(true), { timeout: 10_000, interval: 25 })
}
