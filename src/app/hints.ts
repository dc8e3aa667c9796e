/** Remembers when a hint was last given, so that it comes once a day. */

import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../util/files.ts'
import type { HomePaths } from './paths.ts'

const DAY_MS = 86_400_000

/** Returns whether the hint was given within the last 24 hours; if not, records that it is given now. Returns false where the home cannot be written. */
export function wasHintedToday({ home }: Pick<HomePaths, 'home'>, now: number = Date.now()): boolean {
  const file = join(home, 'hinted')
  try {
    const { mtimeMs } = statSync(file)
    if (now - mtimeMs < DAY_MS && mtimeMs <= now) return true
  } catch {
    // It was never given.
  }
  try {
    makeFolder(home, 0o700)
    writeFileSync(file, '')
  } catch {
    // A home that cannot be written: the hint does no harm twice.
  }
  return false
}
