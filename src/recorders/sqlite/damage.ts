/** Rows that cannot be read: each is left out and named, and the others are read. */

import { isCriaError } from '../../core/error.ts'
import { isDamaged } from '../../util/sqlite/failure.ts'

/** Collects what cannot be read, in words. */
export type Damage = string[]

/** What `read` gives; `undefined` where the row is damaged, which is then added to `damage`. */
export function readRow<T>(what: string, damage: Damage, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    // What was written here is JSON of known shape: when it cannot be taken apart, it has changed on the disk.
    const isBroken = error instanceof SyntaxError || error instanceof TypeError || (isCriaError(error) && isDamaged(error))
    if (!isBroken) throw error
    damage.push(`${what} cannot be read (${error.message})`)
    return undefined
  }
}
