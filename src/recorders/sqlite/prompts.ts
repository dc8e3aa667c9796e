/** Versions of prompts that no turn was asked with any more. */

import { setImmediate } from 'node:timers/promises'
import type { Connection } from '../../util/sqlite/connection.ts'

/** Turns that are looked at before the event loop may turn. */
const TURNS_AT_ONCE = 2000

/** The newest version of each bot's prompt stays, so that the count goes on. */
export async function removeUnusedPrompts(connection: Connection, write: (work: () => void) => Promise<void>): Promise<void> {
  const older = connection.all<{ hash: string }>(
    'SELECT DISTINCT hash FROM prompts WHERE (bot, version) NOT IN (SELECT bot, max(version) FROM prompts GROUP BY bot)',
  )
  const unused = new Set(older.map(({ hash }) => hash))
  // Most prompts are those of new turns: the search goes back from the newest, and ends when all are found.
  const newest = connection.get<{ id: number | null }>('SELECT max(id) AS id FROM turns')?.id ?? 0
  for (let to = newest; to > 0 && unused.size > 0; to -= TURNS_AT_ONCE) {
    keepUsed(connection, unused, to - TURNS_AT_ONCE, to)
    await setImmediate()
  }
  if (unused.size === 0) return
  await write(() => {
    connection.write(() => {
      keepUsed(connection, unused, newest, Number.MAX_SAFE_INTEGER)
      for (const hash of unused) {
        connection.run(
          'DELETE FROM prompts WHERE hash = ? AND (bot, version) NOT IN (SELECT bot, max(version) FROM prompts GROUP BY bot)',
          [hash],
        )
      }
    })
  })
}

function keepUsed(connection: Connection, unused: Set<string>, after: number, to: number): void {
  const used = connection.all<{ hash: string | null }>(
    'SELECT DISTINCT prompt_hash AS hash FROM turns WHERE id > ? AND id <= ?',
    [after, to],
  )
  for (const { hash } of used) if (hash !== null) unused.delete(hash)
}
