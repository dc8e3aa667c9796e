/**
 * Opens regular files only: does not wait for a pipe, read a device or follow a link. Then checks that the opened file is the one
 * that was requested: after a path was resolved, a program may have replaced one of its folders with a link. The system reports the
 * real path of an open file, and its folder can be used by handle instead of by name.
 */

import { constants, readlinkSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { open, readlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { AS_IT_WAS_FOUND } from '../../util/files.ts'
import { folded } from '../../util/glob.ts'
import { realPathOf } from '../../util/real-path.ts'
import type { WorkspacePath } from './workspace.ts'

export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: BigIntStats
  readonly size: number
}

/** @returns `undefined` when the file does not exist. @throws CriaError `tool_failure` for other than regular or readable files. */
export async function openFile(place: WorkspacePath): Promise<OpenFile | undefined> {
  const { real, name } = place
  let handle: FileHandle
  try {
    handle = await open(real, AS_IT_WAS_FOUND)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT') return undefined
    if (code === 'ENOTDIR') throw problem(`A part of the path ${JSON.stringify(name)} is a file, not a folder.`, cause)
    if (code === 'ENXIO') throw problem(`${JSON.stringify(name)} is not a regular file.`, cause)
    throw problem(`${JSON.stringify(name)} cannot be opened (${code}).`, cause)
  }
  try {
    await checkPlace(handle, place)
    const stats = await handle.stat({ bigint: true })
    if (stats.isDirectory()) throw problem(`${JSON.stringify(name)} is a folder: use list_files.`)
    if (!stats.isFile()) throw problem(`${JSON.stringify(name)} is not a regular file.`)
    return { handle, stats, size: Number(stats.size) }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** Reads the whole file, also if it grows meanwhile. @throws CriaError `tool_failure` beyond `limit` bytes. */
export async function readWhole({ handle }: OpenFile, { name }: WorkspacePath, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(PIECE), 0, PIECE, length)
    if (bytesRead === 0) return Buffer.concat(pieces, length)
    length += bytesRead
    if (length > limit) throw problem(`${JSON.stringify(name)} is larger than ${megabytes(limit)}.`)
    pieces.push(buffer.subarray(0, bytesRead))
  }
}

/** Returns the path of an open file's handle; `undefined` except on Linux. */
function handlePath(fd: number): string | undefined {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}` : undefined
}

/** @throws CriaError `permission_denied` when the open file is at another path. */
async function checkPlace({ fd }: FileHandle, { real, name }: WorkspacePath): Promise<void> {
  const path = handlePath(fd)
  const actual = await (path === undefined ? realPathOf(real) : readlink(path).catch(() => realPathOf(real)))
  if (!isSame(actual, real)) throw new CriaError('permission_denied', `${JSON.stringify(name)} was moved while it was opened.`)
}

/** Synchronous form of `checkPlace`, which returns a boolean. */
export function isInPlace(fd: number, real: string): boolean {
  const path = handlePath(fd)
  return path === undefined || isSame(readlinkSync(path), real)
}

/** Compares paths; a case-insensitive file system may report the name in its original case. */
function isSame(actual: string, expected: string): boolean {
  return folded(actual) === folded(expected)
}

/** Runs `use` with a path that keeps meaning the same folder, also if the folder is replaced meanwhile. */
export async function inFolderOf<Result>(place: WorkspacePath, use: (folder: string) => Promise<Result>): Promise<Result> {
  const real = dirname(place.real)
  const flags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
  const handle = await open(real, flags)
  try {
    await checkPlace(handle, { real, name: place.name })
    return await use(handlePath(handle.fd) ?? real)
  } finally {
    await handle.close()
  }
}

const PIECE = 256 * 1024

export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`
}

/** Returns a `tool_failure` whose message the model receives. */
export function problem(message: string, cause?: unknown): CriaError {
  return new CriaError('tool_failure', message, cause === undefined ? {} : { cause })
}

export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error'
}
