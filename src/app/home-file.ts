/** Reads and writes small files of the home: configuration, templates, trust, approvals, keys. */

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigurationError, CriaError, isCriaError } from '../core/error.ts'
import { whileLocked, writeFileAtomically } from '../util/files.ts'
import { sha256 } from '../util/hash.ts'
import { makeHomeFolder, reason, remedy } from './paths.ts'
import type { HomePaths } from './paths.ts'

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

/** Returns the path of a consent: a file in the trust folder, named by a hash of its subject. */
export function consentPath({ trust }: HomePaths, about: string, ending: string = '.json'): string {
  return join(trust, `${sha256(about).slice(0, 32)}${ending}`)
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
