/** Opens or creates a SQLite file of a kind. On failure it reports the reason and leaves the file unchanged. */

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeFolder } from '../files.ts'
import { Connection } from './connection.ts'
import { isBusy, isNoDatabase } from './file-kind.ts'
import type { FileKind } from './file-kind.ts'
import { patiently, TRY_MS } from './patience.ts'

export interface FileOptions {
  /** Path of the file; `:memory:` for a database that ends with its connection. */
  readonly path: string
  readonly readOnly: boolean
  readonly synchronous: 'normal' | 'full'
  /** Milliseconds for which a statement blocks when another connection holds the lock; default: that of the kind. */
  readonly busyTimeoutMs?: number
}

const MEMORY = ':memory:'

/**
 * Opens a file whose users wait for locks by `Patience`: calls of the connection block only for some milliseconds.
 *
 * @param signal ends the wait for a lock, which is needed only to create, migrate or recover a file.
 * @throws as `openFile`; the reason of the signal when it is aborted.
 */
export function openFilePatiently(kind: FileKind, options: FileOptions, signal?: AbortSignal): Promise<Connection> {
  const deadline = performance.now() + kind.busyTimeoutMs
  return patiently(() => openFile(kind, { ...options, busyTimeoutMs: TRY_MS }), deadline, signal)
}

/** @throws errors of the kind's `refused` and `failed`. */
export function openFile(kind: FileKind, options: FileOptions): Connection {
  if (options.path === MEMORY) return prepared(kind, connect(kind, MEMORY, MEMORY, options), options)
  const path = resolve(options.path)
  const entry = entryAt(kind, path)
  if (entry !== undefined) checkEntry(kind, path, entry)
  else if (options.readOnly) throw kind.errors.refused(`There is no ${kind.name} at ${path}: ${kind.missingHint}`)
  else guarded(kind, path, () => create(kind, behindLinks(path)))
  return options.readOnly ? openToRead(kind, path, options) : prepared(kind, connect(kind, path, path, options), options)
}

function connect(
  kind: FileKind,
  location: string | URL,
  path: string,
  { readOnly, busyTimeoutMs }: Pick<FileOptions, 'readOnly' | 'busyTimeoutMs'>,
): Connection {
  const sqlite = loadSqlite()
  if (sqlite === undefined) {
    throw kind.errors.refused(`cria needs Node 22.18 or newer, and this is ${process.version}: it has no \`node:sqlite\`.`, {
      hint: 'Install a newer Node, or run this with one.',
    })
  }
  return guarded(kind, path, () => {
    const database = new sqlite.DatabaseSync(location, { readOnly, timeout: busyTimeoutMs ?? kind.busyTimeoutMs })
    return new Connection(kind, database, path, readOnly)
  })
}

/** Checks the application id before anything is written to the file. */
function prepared(kind: FileKind, connection: Connection, options: FileOptions): Connection {
  try {
    if (connection.path === MEMORY) connection.execute(`PRAGMA application_id = ${kind.applicationId}`)
    const id = connection.get<{ application_id: number }>('PRAGMA application_id')?.application_id
    if (id !== kind.applicationId) throw notOurs(kind, connection.path, 'a database of another application')
    migrate(connection, kind)
    if (kind.settings !== undefined) connection.execute(kind.settings)
    if (connection.readOnly) return connection
    connection.execute(`PRAGMA synchronous = ${options.synchronous}; PRAGMA journal_size_limit = 67108864`)
    // Refuses a read-only file now, not at the first write.
    try {
      connection.execute(kind.probe)
    } catch (error) {
      // A file that another process is writing is writable.
      if (!isBusy(error)) throw error
    }
    return connection
  } catch (error) {
    connection.close()
    throw isNoDatabase(error) ? notOurs(kind, connection.path, 'damaged, or a file of another kind', error) : error
  }
}

/**
 * Opens a file for reading. If neither the file nor its folder is writable, SQLite cannot share it with writers, and refuses.
 * In that case no process can write it, and the file is opened as immutable.
 */
function openToRead(kind: FileKind, path: string, options: FileOptions): Connection {
  try {
    return prepared(kind, connect(kind, path, path, options), options)
  } catch (error) {
    const hasLog = (entryAt(kind, `${path}-wal`)?.size ?? 0) > 0
    if (!kind.errors.isFailed(error) || hasLog) throw error
    const location = pathToFileURL(path)
    location.searchParams.set('immutable', '1')
    return prepared(kind, connect(kind, location, path, options), options)
  }
}

/** Returns the path at which to create a missing file: the target of its links, which would otherwise block the creation. */
function behindLinks(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? behindLinks(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path
}

/**
 * Creates the file under a temporary name and links it to its own when it is complete. So neither another process nor the next
 * start after a crash or on a full disk sees a partial file.
 */
function create(kind: FileKind, path: string): void {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.new`
  makeFolder(dirname(path), 0o700)
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    const connection = connect(kind, draft, path, { readOnly: false })
    try {
      // Lets free pages be returned to the disk; must be set before the first table is created.
      connection.execute(
        `PRAGMA page_size = ${kind.pageSize ?? 4096}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL`,
      )
      connection.execute(`PRAGMA application_id = ${kind.applicationId}`)
      migrate(connection, kind)
    } finally {
      connection.close()
    }
    publish(draft, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true })
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'])

function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Another process has created the same file meanwhile.
    if (code === 'EEXIST') return
    if (!NO_LINKS.has(code)) throw error
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}

/**
 * Checks the directory entry, not the content: closing a file that SQLite has open elsewhere in this process would drop its locks
 * (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
function checkEntry(kind: FileKind, path: string, stats: Stats): void {
  const what = stats.isDirectory() ? 'a folder' : stats.isFile() ? 'an empty file' : 'no ordinary file'
  if (!stats.isFile() || stats.size === 0) throw notOurs(kind, path, what)
}

function notOurs({ name, errors }: FileKind, path: string, what: string, cause?: unknown): Error {
  return errors.refused(`${path} is ${what}, not a ${name} of cria. It was left as it is.`, {
    hint: 'Move it away, or name another file.',
    ...(cause === undefined ? {} : { cause }),
  })
}

function entryAt(kind: FileKind, path: string): Stats | undefined {
  return guarded(kind, path, () => statSync(path, { throwIfNoEntry: false }))
}

function guarded<T>({ name, errors }: FileKind, path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (errors.isOne(error)) throw error
    const said = error instanceof Error ? error.message : String(error)
    throw errors.failed(`The ${name} ${path} could not be opened (${said}).`, { cause: error })
  }
}

/**
 * Migrates the schema in one transaction; several processes may try at once.
 *
 * @throws an error of `refused` when the file has a newer schema, or an older schema and is not writable.
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
    // Reads the version again under the lock: another process may have migrated the file.
    for (const migration of migrations.slice(schemaVersion(connection))) connection.execute(migration)
    connection.execute(`PRAGMA user_version = ${migrations.length}`)
  })
}

export function schemaVersion(connection: Connection): number {
  return connection.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0
}

type Sqlite = typeof import('node:sqlite')
type Warn = (warning: string | Error, ...rest: readonly unknown[]) => void

/** Loads `node:sqlite` without the warning of Node 22; returns `undefined` when this Node does not have it. */
export function loadSqlite(): Sqlite | undefined {
  const emitWarning = Reflect.get(process, 'emitWarning') as Warn
  const quiet: Warn = (warning, ...rest) => {
    if (!isAboutSqlite(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  Reflect.set(process, 'emitWarning', quiet)
  try {
    // Synchronous, so that no other warning is suppressed.
    const sqlite: Sqlite | undefined = process.getBuiltinModule('node:sqlite')
    return sqlite
  } finally {
    Reflect.set(process, 'emitWarning', emitWarning)
  }
}

function isAboutSqlite(warning: string | Error, kind: unknown): boolean {
  return kind === 'ExperimentalWarning' && String(warning).startsWith('SQLite')
}
