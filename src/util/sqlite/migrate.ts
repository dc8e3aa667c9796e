/** Brings a file to the newest schema. */

import type { Connection } from './connection.ts'
import type { FileKind } from './file-kind.ts'

/**
 * In one transaction; several processes may try at once.
 *
 * @throws what `refused` makes, when the file was made by a newer version, or by an older one and cannot be written.
 */
export function migrate(connection: Connection, { migrations, errors }: FileKind): void {
  const version = schemaVersion(connection)
  if (version > migrations.length) {
    throw errors.refused(
      `${connection.path} was made by a newer version of cria: its schema is ${version}, this version knows ${migrations.length}.`,
      { hint: 'Update cria, or name another file.' },
    )
  }
  if (version === migrations.length) return
  if (connection.readOnly) {
    throw errors.refused(
      `${connection.path} was made by an older version of cria: its schema is ${version}, this version reads ${migrations.length}.`,
      { hint: 'Open it once for writing, which brings it up to date.' },
    )
  }
  connection.write(() => {
    // Read again under the lock: somebody else may have been faster.
    for (const migration of migrations.slice(schemaVersion(connection))) connection.execute(migration)
    connection.execute(`PRAGMA user_version = ${migrations.length}`)
  })
}

export function schemaVersion(connection: Connection): number {
  return connection.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0
}
