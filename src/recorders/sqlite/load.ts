/** Loads `node:sqlite`, which Node 22 accompanies with a warning that is of no use to our users. */

import { ConfigurationError } from '../../core/error.ts'

type Sqlite = typeof import('node:sqlite')
type Warn = (warning: string | Error, ...rest: readonly unknown[]) => void

/** @throws ConfigurationError where this Node has none. */
export function loadSqlite(): Sqlite {
  const emitWarning = Reflect.get(process, 'emitWarning') as Warn
  const quiet: Warn = (warning, ...rest) => {
    if (!isAboutSqlite(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  Reflect.set(process, 'emitWarning', quiet)
  try {
    // Synchronous, so that nobody else's warning can come in between.
    const sqlite: Sqlite | undefined = process.getBuiltinModule('node:sqlite')
    if (sqlite === undefined) throw tooOld()
    return sqlite
  } finally {
    Reflect.set(process, 'emitWarning', emitWarning)
  }
}

function tooOld(): ConfigurationError {
  return new ConfigurationError(`cria needs Node 22.18 or newer, and this is ${process.version}: it has no \`node:sqlite\`.`, {
    hint: 'Install a newer Node, or run this with one.',
  })
}

function isAboutSqlite(warning: string | Error, kind: unknown): boolean {
  return kind === 'ExperimentalWarning' && String(warning).startsWith('SQLite')
}
