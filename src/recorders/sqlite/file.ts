/** Opens the file of a journal, or makes one; says plainly why it cannot, and then has changed nothing. */

import { randomBytes } from 'node:crypto'
import { closeSync, constants, copyFileSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigurationError, CriaError, isCriaError } from '../../core/error.ts'
import { makeFolder } from '../../util/files.ts'
import { Connection } from './connection.ts'
import { isNoDatabase } from './failure.ts'
import { loadSqlite } from './load.ts'
import { APPLICATION_ID, migrate } from './schema.ts'

export interface FileOptions {
  /** `:memory:` for a journal that ends with its recorder. */
  readonly path: string
  readonly readOnly: boolean
  readonly synchronous: 'normal' | 'full'
}

/** How long a writer waits for others, in milliseconds. Transactions take less than one. */
const BUSY_TIMEOUT_MS = 10_000
const MEMORY = ':memory:'

export function openFile(options: FileOptions): Connection {
  if (options.path === MEMORY) return prepared(connect(MEMORY, MEMORY, false), options)
  const path = resolve(options.path)
  const entry = entryAt(path)
  if (entry !== undefined) {
    checkEntry(path, entry)
  } else if (options.readOnly) {
    throw new ConfigurationError(`There is no journal at ${path}: nothing has been recorded there yet. Check the path.`)
  } else {
    create(path)
  }
  return options.readOnly ? openToRead(path, options) : prepared(connect(path, path, false), options)
}

function connect(location: string | URL, path: string, readOnly: boolean): Connection {
  const { DatabaseSync } = loadSqlite()
  return guarded(path, () => new Connection(new DatabaseSync(location, { readOnly, timeout: BUSY_TIMEOUT_MS }), path, readOnly))
}

/** Checks whose file it is before anything is written to it. */
function prepared(connection: Connection, options: FileOptions): Connection {
  try {
    if (connection.path === MEMORY) connection.execute(`PRAGMA application_id = ${APPLICATION_ID}`)
    const id = connection.get<{ application_id: number }>('PRAGMA application_id')?.application_id
    if (id !== APPLICATION_ID) {
      throw notOurs(connection.path, 'a database of another application')
    }
    migrate(connection)
    if (connection.readOnly) return connection
    connection.execute(`PRAGMA synchronous = ${options.synchronous}; PRAGMA journal_size_limit = 67108864`)
    // SQLite opens what it may not write without a word: ask now, not when the first turn begins.
    connection.run('DELETE FROM leases WHERE FALSE')
    return connection
  } catch (error) {
    connection.close()
    throw isNoDatabase(error) ? notOurs(connection.path, 'no SQLite database, or a damaged one', error) : error
  }
}

/**
 * Where neither the file nor its folder can be written, SQLite cannot share the file with writers, and refuses. Without writers
 * nothing can change there either, and the file is read as it stands.
 */
function openToRead(path: string, options: FileOptions): Connection {
  try {
    return prepared(connect(path, path, true), options)
  } catch (error) {
    const cannotShare = isCriaError(error) && error.code === 'journal_failed' && !hasContent(`${path}-wal`)
    if (!cannotShare) throw error
    const location = pathToFileURL(path)
    location.searchParams.set('immutable', '1')
    return prepared(connect(location, path, true), options)
  }
}

/**
 * Makes the file under another name and links it to its own when it is whole, so that nobody ever sees a beginning: not another
 * process, and not the next start after a crash or on a full disk.
 */
function create(path: string): void {
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.new`
  guarded(path, () => {
    makeFolder(dirname(path), 0o700)
    try {
      closeSync(openSync(draft, 'wx', 0o600))
      const connection = connect(draft, path, false)
      try {
        // Room that is freed can be given back to the disk; has to be said before the first table.
        connection.execute('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL')
        connection.execute(`PRAGMA application_id = ${APPLICATION_ID}`)
        migrate(connection)
      } finally {
        connection.close()
      }
      publish(draft, path)
    } finally {
      for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true })
    }
  })
}

function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Somebody else was faster, and theirs is as good.
    if (code === 'EEXIST') return
    // File systems without hard links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EOPNOTSUPP') throw error
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  }
}

/**
 * Looks at the entry and not into the file: closing a file that SQLite has open elsewhere in this process would drop its locks
 * (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
function checkEntry(path: string, stats: Stats): void {
  const what = stats.isDirectory() ? 'a folder' : stats.isFile() ? 'an empty file' : 'no ordinary file'
  if (!stats.isFile() || stats.size === 0) throw notOurs(path, what)
}

function notOurs(path: string, what: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(
    `${path} is ${what}, not a journal of cria. It was left as it is: move it away, or name another file.`,
    cause === undefined ? {} : { cause },
  )
}

function entryAt(path: string): Stats | undefined {
  return guarded(path, () => statSync(path, { throwIfNoEntry: false }))
}

function hasContent(path: string): boolean {
  return (entryAt(path)?.size ?? 0) > 0
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isCriaError(error)) throw error
    const said = error instanceof Error ? error.message : String(error)
    throw new CriaError('journal_failed', `The journal ${path} could not be opened (${said}).`, { cause: error })
  }
}
