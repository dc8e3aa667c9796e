/** Mounts a small file system, to test full disks. */

import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/** Creates a folder and mounts a small file system there; returns false if that is not permitted. */
export function mountSmall(place: string, size = '1m'): boolean {
  mkdirSync(place)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
