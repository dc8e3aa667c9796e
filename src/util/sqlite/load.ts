/** Loads `node:sqlite`, which Node 22 accompanies with a warning that is of no use to our users. */

type Sqlite = typeof import('node:sqlite')
type Warn = (warning: string | Error, ...rest: readonly unknown[]) => void

/** `undefined` where this Node has none. */
export function loadSqlite(): Sqlite | undefined {
  const emitWarning = Reflect.get(process, 'emitWarning') as Warn
  const quiet: Warn = (warning, ...rest) => {
    if (!isAboutSqlite(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  Reflect.set(process, 'emitWarning', quiet)
  try {
    // Synchronous, so that nobody else's warning can come in between.
    const sqlite: Sqlite | undefined = process.getBuiltinModule('node:sqlite')
    return sqlite
  } finally {
    Reflect.set(process, 'emitWarning', emitWarning)
  }
}

function isAboutSqlite(warning: string | Error, kind: unknown): boolean {
  return kind === 'ExperimentalWarning' && String(warning).startsWith('SQLite')
}
