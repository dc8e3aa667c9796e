/** Finds, reads and writes the files of cria in `CRIA_HOME` (default `~/.cria`); finds the project that contains a folder. */

import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ConfigurationError, CriaError, isCriaError } from '../core/error.ts'
import { defined } from '../util/check.ts'
import { makeFolder, whileLocked, writeFileAtomically } from '../util/files.ts'

/** Environment and working folder of the process; tests pass their own. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts the wait for a file that another process has locked. */
  readonly signal?: AbortSignal
}

export interface HomePaths {
  readonly home: string
  readonly journal: string
  readonly stores: string
  readonly config: string
  /** Keys of providers. The `.gitignore` of a home covers this name. */
  readonly keys: string
  /** Folder with one file per trusted folder. */
  readonly trust: string
}

export function homePaths({ env, cwd }: Surroundings): HomePaths {
  const named = env['CRIA_HOME']
  const home = named === undefined || named === '' ? join(homedir(), '.cria') : resolve(cwd, named)
  return {
    home,
    journal: join(home, 'cria.db'),
    stores: join(home, 'stores'),
    config: join(home, 'config.json'),
    keys: join(home, 'cria.keys.json'),
    trust: join(home, 'trust'),
  }
}

/** The allowed names of a store, which become names of files. */
export const STORE_NAME: RegExp = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/

/** @throws ConfigurationError when the name cannot be the name of a store. */
export function storePath(paths: HomePaths, name: string): string {
  if (!STORE_NAME.test(name)) {
    throw new ConfigurationError(
      `A store is named with letters, digits, ".", "_" and "-" (at most 100, not beginning with "." or "-"), but got ${JSON.stringify(name.slice(0, 100))}.`,
    )
  }
  return join(paths.stores, `${name}.db`)
}

const PRIVATE_FOLDER = 0o700
const PRIVATE_FILE = 0o600
// A home inside a repository must not be committed: it contains questions, answers and documents.
const IGNORED = 'cria.*\nstores/\ntrust/\n'

/**
 * Creates a folder of the home, readable by its owner only, and the home itself if needed.
 *
 * @throws CriaError `store_failed` that names the folder when it cannot be created.
 */
export function makeHomeFolder(paths: HomePaths, folder: string = paths.home): void {
  try {
    if (makeFolder(paths.home, PRIVATE_FOLDER)) {
      writeFileSync(join(paths.home, '.gitignore'), IGNORED, { mode: PRIVATE_FILE })
    }
    makeFolder(folder, PRIVATE_FOLDER)
  } catch (cause) {
    throw new CriaError('store_failed', `The folder ${folder} cannot be made: ${reason(cause)}.`, {
      cause,
      hint: remedy(cause),
    })
  }
}

/** Returns the object in the file; `undefined` where the file is missing or cannot be read. */
export function readHomeFile<T extends object>(file: string): Partial<T> | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<T> | null
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Replaces the whole file with JSON or a text, readable only by its owner. @throws CriaError `store_failed` */
export function writeHomeFile(file: string, value: object | string, paths: HomePaths): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
  changing(file, () => {
    makeHomeFolder(paths, dirname(file))
    writeFileAtomically(file, text.endsWith('\n') ? text : `${text}\n`)
  })
}

/** Removes the file; reports whether it existed. @throws CriaError `store_failed` */
export function removeHomeFile(file: string): boolean {
  const isThere = existsSync(file)
  changing(file, () => rmSync(file, { force: true }))
  return isThere
}

/** Calls `change` while other processes cannot change the file. @throws CriaError `store_failed`, and what `change` throws. */
export function whileHomeFileIsLocked(file: string, paths: HomePaths, change: () => void): void {
  changing(file, () => {
    makeHomeFolder(paths, dirname(file))
    whileLocked(file, change)
  })
}

function changing(file: string, change: () => void): void {
  try {
    change()
  } catch (cause) {
    if (isCriaError(cause)) throw cause
    throw new CriaError('store_failed', `${file} cannot be written: ${reason(cause)}.`, { cause, hint: remedy(cause) })
  }
}

/** Returns the names of the files in a folder without their ending, sorted; an empty list where the folder cannot be read. */
export function homeNames(folder: string, ending: string): readonly string[] {
  try {
    return readdirSync(folder)
      .flatMap((file) => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []))
      .toSorted()
  } catch {
    return []
  }
}

/** Maximum size of a configuration or a template. */
const MAX_BYTES = 1 << 20

/**
 * Reads a small text file. Checks the type of the entry first: reading a pipe would wait for ever, and a device may have no end.
 *
 * @param kind the kind of file expected, for the error: `configuration`.
 * @param options.pipes also reads a pipe to its end; for paths that the user has typed. Default false.
 * @throws ConfigurationError when the file cannot be read, is not a regular file, or is larger than 1 MB.
 */
export function readSmallFile(file: string, kind: string, { pipes = false }: { readonly pipes?: boolean } = {}): string {
  try {
    const status = statSync(file)
    if (status.isDirectory()) throw new ConfigurationError(`${file} cannot be read: it is a folder.`)
    if (!status.isFile() && !(pipes && status.isFIFO())) throw new ConfigurationError(`${file} is not a regular file.`)
    if (status.size > MAX_BYTES) throw new ConfigurationError(`${file} has ${status.size} bytes; a ${kind} has at most 1 MB.`)
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause
    throw new ConfigurationError(`${file} cannot be read: ${reason(cause)}.`, { cause })
  }
}

/** Turns a usage error into a failure: the user did not name the file on the command line. Returns any other error unchanged. */
export function asFailure(thrown: unknown, code: 'journal_failed' | 'store_failed'): unknown {
  if (!(thrown instanceof ConfigurationError)) return thrown
  const { message, hint, details } = thrown
  return new CriaError(code, message, { ...defined({ hint, details }), cause: thrown })
}

/** Returns a short description of a file system error: `permission denied`, `no space left on device`. */
export function reason(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  return REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown))
}

/** Returns the remedy for a folder of the home that cannot be created or written. */
export function remedy(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Free some space, or set CRIA_HOME to a folder on another disk.'
  if (code === 'EROFS') return 'Set CRIA_HOME to a folder on a disk that can be written.'
  return 'Make it writable, or set CRIA_HOME to a folder that is.'
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'something of that name is in the way',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
}

/** Returns the real path of the nearest folder upwards that contains `.git`. */
export function repositoryRoot(cwd: string): string | undefined {
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** Returns the root of the repository that contains `cwd`; outside of a repository, `cwd` itself. */
export function workspaceRoot(cwd: string): string {
  return repositoryRoot(cwd) ?? realPath(cwd)
}

/** Resolves every symbolic link; returns a path that does not exist unchanged. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
