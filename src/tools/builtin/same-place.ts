/**
 * Checks that an opened file is the one that was looked for. Between the look at a path and its use, a program may have put a link in the place of
 * one of its folders. The system tells where an open file really lies, and lets its folder be used by that handle instead of by name.
 */

import { constants, promises, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FileHandle } from 'node:fs/promises'
import { CriaError } from '../../core/error.ts'
import { folded } from '../../util/glob.ts'
import { realPathOf } from '../../util/real-path.ts'
import type { WorkspacePath } from './workspace.ts'

/** Only Linux has it. */
function handlePath(fd: number): string | undefined {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}` : undefined
}

/** @throws CriaError `permission_denied` when it lies elsewhere. */
export async function checkPlace({ fd }: FileHandle, { real, name }: WorkspacePath): Promise<void> {
  const path = handlePath(fd)
  const actual = await (path === undefined ? realPathOf(real) : promises.readlink(path).catch(() => realPathOf(real)))
  if (!isSame(actual, real)) throw new CriaError('permission_denied', `${JSON.stringify(name)} was moved while it was opened.`)
}

/** As `checkPlace`, for those who cannot wait. */
export function isInPlace(fd: number, real: string): boolean {
  const path = handlePath(fd)
  return path === undefined || isSame(readlinkSync(path), real)
}

/** A file system without case may tell the name as it was made. */
function isSame(actual: string, expected: string): boolean {
  return folded(actual) === folded(expected)
}

/** Runs `use` with a path of the place's folder that stays the same folder, whatever is put in its place meanwhile. */
export async function inFolderOf<Result>(place: WorkspacePath, use: (folder: string) => Promise<Result>): Promise<Result> {
  const real = dirname(place.real)
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
  const handle = await promises.open(real, flags)
  try {
    await checkPlace(handle, { real, name: place.name })
    return await use(handlePath(handle.fd) ?? real)
  } finally {
    await handle.close()
  }
}
