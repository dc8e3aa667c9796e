/** Opens regular files only: never waits for a pipe, reads a device or follows a link. */

import type { BigIntStats } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { CriaError } from '../../core/error.ts'
import { AS_IT_WAS_FOUND } from '../../util/files.ts'
import { checkPlace } from './same-place.ts'
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
