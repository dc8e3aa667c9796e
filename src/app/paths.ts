/** Where things lie: those of cria in `CRIA_HOME`, by default `~/.cria`, and the project around a folder. */

import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ConfigurationError, CriaError } from '../core/error.ts'
import { makeFolder } from '../util/files.ts'

/** The process's surroundings, handed in so that tests can have their own. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Ends the wait for a file that another process has locked. */
  readonly signal?: AbortSignal
}

export interface HomePaths {
  readonly home: string
  readonly journal: string
  readonly stores: string
  readonly config: string
  /** Keys of providers. Its name is one that the `.gitignore` of a home covers. */
  readonly keys: string
  /** One file per trusted folder. */
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

/** What a store may be called: the name becomes the name of a file. */
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
// A home inside a repository must not end up in its history: it holds questions, answers and documents.
const IGNORED = 'cria.*\nstores/\ntrust/\n'

/**
 * Makes a folder of the home, readable by its owner alone, and the home itself with it.
 *
 * @throws CriaError `store_failed` that names the folder when it cannot be made.
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

/** The short form of a file system error: `permission denied`, `no space left on device`. */
export function reason(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  return REASONS[code] ?? (thrown instanceof Error ? thrown.message : String(thrown))
}

/** What to do about a folder of the home that cannot be made or written. */
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
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  EEXIST: 'something of that name is in the way',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
}

/** Real path of the nearest folder upwards that holds `.git`. */
export function repositoryRoot(cwd: string): string | undefined {
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** The repository that `cwd` lies in; outside of one, `cwd` itself. */
export function workspaceRoot(cwd: string): string {
  return repositoryRoot(cwd) ?? realPath(cwd)
}

/** With every link followed; as it is where it does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
