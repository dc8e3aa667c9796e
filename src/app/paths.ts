/** Computes paths: the files of cria in `CRIA_HOME` (default `~/.cria`), and the project that contains a folder. */

import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ConfigurationError, CriaError } from '../core/error.ts'
import { makeFolder } from '../util/files.ts'

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
