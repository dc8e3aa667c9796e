/** Implements the file checks of `cria doctor`: the home, its disk, the journal and the stores. */

import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { toCriaError } from '../core/error.ts'
import { reason, remedy } from './paths.ts'
import type { HomePaths } from './paths.ts'
import { storeDocuments } from './store-choice.ts'

/** The outcome of one check of `cria doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** The remedy; absent where the check succeeded. */
  readonly hint?: string
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message }
}

export function warning(name: string, message: string, hint?: string): Check {
  return { name, status: 'warning', message, ...(hint === undefined ? {} : { hint }) }
}

export function failed(name: string, message: string, hint?: string): Check {
  return { name, status: 'failed', message, ...(hint === undefined ? {} : { hint }) }
}

/** Makes a failed check of a thrown error. */
export function failedWith(name: string, thrown: unknown): Check {
  const { message, hint } = toCriaError(thrown)
  return failed(name, message, hint)
}

/** Free bytes below which the check warns. */
const LITTLE_SPACE = 100_000_000
/** Free bytes below which a journal can neither be created nor opened. */
const NO_SPACE = 1_000_000

export function checkHome({ home, journal }: HomePaths): Check[] {
  const there = existsSync(home)
  let found: Stats | undefined
  try {
    found = statSync(home, { throwIfNoEntry: false })
    if (there) accessSync(home, constants.W_OK)
    // Permission bits do not show whether root, or a read-only file system, accepts writes: only a trial write does.
    else rmdirSync(mkdtempSync(join(nearestFolder(home), '.cria-')))
  } catch (thrown) {
    return [failed('home', `${home} cannot be ${there ? 'written' : 'made'}: ${reason(thrown)}.`, remedy(thrown))]
  }
  if (found?.isDirectory() === false) return [failed('home', `${home} is not a folder.`, 'Set CRIA_HOME to a folder.')]
  const checks = [ok('home', there ? home : `${home} (made when it is needed)`)]
  if (found !== undefined && process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    checks.push(warning('home', `${home} can be read by others, and it holds your questions.`, `chmod 700 ${home}`))
  const space = spaceCheck(freeSpace(home), home, existsSync(journal))
  return space === undefined ? checks : [...checks, space]
}

/** @param free bytes. @returns `undefined` where there is enough space. */
export function spaceCheck(free: number, home: string, hasJournal: boolean): Check | undefined {
  if (free >= LITTLE_SPACE) return undefined
  if (free < NO_SPACE) return failed('home', `The disk of ${home} is full.`, FULL)
  const gc = hasJournal ? ' `cria logs gc --max-age DAYS` makes the journal smaller, as long as there is a little left.' : ''
  return warning('home', `Less than 100 MB are free on the disk of ${home}.`, `Free some space.${gc}`)
}

// Removing old turns needs some free space as well.
const FULL = 'Free some space, or set CRIA_HOME to a folder on another disk.'

/** Returns why the disk prevents writing at `path`; `undefined` when the disk is not the cause. */
export function diskTrouble(path: string): { readonly what: string; readonly hint: string } | undefined {
  try {
    accessSync(nearestFolder(dirname(path)), constants.W_OK)
    return freeSpace(path) < NO_SPACE ? { what: 'the disk is full', hint: FULL } : undefined
  } catch (thrown) {
    const isReadOnly = thrown instanceof Error && 'code' in thrown && thrown.code === 'EROFS'
    return isReadOnly ? { what: reason(thrown), hint: remedy(thrown) } : undefined
  }
}

function freeSpace(path: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(path))
  return bavail * bsize
}

function nearestFolder(path: string): string {
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** Checks a store and names its documents: the name of a store made for `--docs` is only a hash. */
export async function checkStore(name: string, path: string): Promise<Check> {
  const check = await checkDatabase(`store ${name}`, path)
  const documents = check.status === 'ok' ? await storeDocuments({ name, path }) : []
  return documents.length === 0 ? check : { ...check, message: `${check.message}: ${documents.join(', ')}` }
}

/** Larger files are not checked page by page: the time grows with the size. */
const MOST_CHECKED_BYTES = 100_000_000

/** Opens the file read-only and lets SQLite check its pages and indexes. */
export async function checkDatabase(name: string, path: string): Promise<Check> {
  if (!existsSync(path)) return ok(name, 'not there yet')
  const { DatabaseSync } = await import('node:sqlite')
  try {
    using database = new DatabaseSync(path, { readOnly: true })
    database.exec('PRAGMA busy_timeout = 2000')
    const { size } = statSync(path)
    const isWhole = size <= MOST_CHECKED_BYTES
    const verdict = isWhole ? database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] : 'ok'
    if (verdict !== 'ok')
      return failed(name, `${path} is damaged: ${String(verdict)}.`, 'Move the file away; a new one is begun.')
    const problem = await problemOf(path)
    if (problem !== undefined) return warning(name, problem.message, problem.hint)
    const version = database.prepare('PRAGMA user_version').get()?.['user_version']
    const unread = isWhole ? '' : ', too large to be checked page by page here: `sqlite3 FILE "PRAGMA quick_check"` does'
    return ok(name, `${path} (schema ${String(version)}, ${Math.ceil(size / 1000)} kB${unread})`)
  } catch (thrown) {
    // SQLite needs some free space even to read a file; the file itself may be intact.
    const trouble = diskTrouble(path)
    if (trouble === undefined)
      return failed(name, `${path} cannot be read: ${reason(thrown)}.`, 'Check its permissions, or move it away.')
    return failed(name, `${path} cannot be read: ${trouble.what} (${reason(thrown)}).`, `Leave it where it is. ${trouble.hint}`)
  }
}

/** Finds an intact database that is not a file of cria, or is of a newer version. */
async function problemOf(path: string): Promise<Pick<Check, 'message' | 'hint'> | undefined> {
  try {
    const opened = path.endsWith('cria.db')
      ? await (await import('../recorders/sqlite/recorder.ts')).SqliteRecorder.open({ path, readOnly: true })
      : await (await import('../stores/sqlite.ts')).SqliteDocumentStore.open({ path, readOnly: true })
    await opened.close?.()
    return undefined
  } catch (thrown) {
    return failedWith('', thrown)
  }
}
