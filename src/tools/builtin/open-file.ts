/**
 * Opens regular files only, never waits for a pipe, reads a device or follows a link, and checks that an opened file is the one that was
 * looked for. Between the look at a path and its use, a program may have put a link in the place of one of its folders. The system tells
 * where an open file really lies, and lets its folder be used by that handle instead of by name.
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

/** @returns `undefined` where there is nothing. @throws CriaError `tool_failure` for what is no regular file or cannot be read. */
export async function openFile(place: WorkspacePath): Promise<OpenFile | undefined> {
  const { real, name } = place
  let handle: FileHandle
  try {
    handle = await open(real, AS_IT_WAS_FOUND)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT') return undefined
    if (code === 'ENOTDIR') throw problem(`A part of the path ${JSON.stringify(name)} is a file, not a folder.`, cause)
    if (code === 'ENXIO') throw problem(`${JSON.stringify(name)} is no regular file.`, cause)
    throw problem(`${JSON.stringify(name)} cannot be opened (${code}).`, cause)
  }
  try {
    await checkPlace(handle, place)
    const stats = await handle.stat({ bigint: true })
    if (stats.isDirectory()) throw problem(`${JSON.stringify(name)} is a folder: use list_files.`)
    if (!stats.isFile()) throw problem(`${JSON.stringify(name)} is no regular file.`)
    return { handle, stats, size: Number(stats.size) }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** The whole file, however long it became while it was read. @throws CriaError `tool_failure` beyond `limit` bytes. */
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

/** Only Linux has it. */
function handlePath(fd: number): string | undefined {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}` : undefined
}

/** @throws CriaError `permission_denied` when it lies elsewhere. */
async function checkPlace({ fd }: FileHandle, { real, name }: WorkspacePath): Promise<void> {
  const path = handlePath(fd)
  const actual = await (path === undefined ? realPathOf(real) : readlink(path).catch(() => realPathOf(real)))
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

/** What the model is told. */
export function problem(message: string, cause?: unknown): CriaError {
  return new CriaError('tool_failure', message, cause === undefined ? {} : { cause })
}

export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error'
}
