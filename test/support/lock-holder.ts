/**
 * Holds the lock of a SQLite file, prints `held`, and ends after the given milliseconds.
 *
 *     node test/support/lock-holder.ts FILE MS [exclusive]
 *
 * `exclusive` also blocks readers, which cria itself never does.
 */

import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const [path = '', ms = '0', mode] = process.argv.slice(2)

if (import.meta.main) {
  const database = new DatabaseSync(path, { timeout: 5000 })
  if (mode === 'exclusive') database.exec('PRAGMA locking_mode = EXCLUSIVE')
  database.exec('BEGIN IMMEDIATE')
  writeSync(1, 'held\n')
  setTimeout(() => {
    database.exec('ROLLBACK')
    database.close()
  }, Number(ms))
}
