/**
 * Reads a text file for editing, and replaces it atomically: readers see the old content or the new, also after a crash. Carriage
 * returns before line feeds are hidden from models.
 */

import { createHash, randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { decode, encode } from './encoding.ts'
import type { Encoded } from './encoding.ts'
import { codeOf, inFolderOf, openFile, problem, readWhole } from './open-file.ts'
import type { WorkspacePath } from './workspace.ts'

export const MAX_EDITED_BYTES = 10_000_000

export interface TextFile {
  /** The content with its original line ends. */
  readonly text: string
  readonly encoding: Omit<Encoded, 'text'>
  /** Hash of the bytes. */
  readonly hash: string
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number }
}

/** @returns `undefined` when the file does not exist. @throws CriaError `tool_failure` for a file that is not text or too large. */
export async function readTextFile(place: WorkspacePath): Promise<TextFile | undefined> {
  const file = await openFile(place)
  if (file === undefined) return undefined
  try {
    const bytes = await readWhole(file, place, MAX_EDITED_BYTES)
    const decoded = decode(bytes)
    if (decoded === undefined) throw problem(`${JSON.stringify(place.name)} is not a text file.`)
    const { text, ...encoding } = decoded
    const { mode, uid, gid } = file.stats
    const owner = { uid: Number(uid), gid: Number(gid) }
    return { text, encoding, hash: hashOf(bytes), mode: Number(mode) & 0o7777, owner }
  } finally {
    await file.handle.close()
  }
}

/** @param before the file that the text replaces. @throws CriaError `tool_failure` when its encoding cannot hold the text. */
export function bytesOf(text: string, before: TextFile | undefined, name: string): Buffer {
  const encoding = before?.encoding ?? { encoding: 'utf-8', mark: false }
  const bytes = encode({ text, ...encoding })
  if (bytes !== undefined) return bytes
  throw problem(`The new text holds characters that ${JSON.stringify(name)} cannot hold: the file is in ${encoding.encoding}.`)
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Converts line ends to line feeds. */
export function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Returns the line end of most lines; a line feed for a tie and for text without line ends. */
export function usualLineEnd(text: string): '\n' | '\r\n' {
  return text.split('\r\n').length - 1 > (text.split('\n').length - 1) / 2 ? '\r\n' : '\n'
}

/**
 * Replaces a file; keeps its mode, and its owner when that is allowed.
 *
 * @throws CriaError `tool_failure` with the reason when the file cannot be written.
 */
export function replaceFile(
  place: WorkspacePath,
  bytes: Uint8Array,
  { mode, owner }: Pick<TextFile, 'mode' | 'owner'>,
): Promise<void> {
  return put(place, bytes, async (temporary, target, handle) => {
    await handle.chown(owner.uid, owner.gid).catch(() => {})
    // After the owner, because a change of owner clears some bits of the mode.
    await handle.chmod(mode)
    await rename(temporary, target)
  })
}

/** Creates a new file and the folders above it. @throws CriaError `tool_failure`, also when the path exists by now. */
export async function createFile(place: WorkspacePath, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(place.real), { recursive: true }).catch((cause: unknown) => {
    throw problem(`The folder of ${JSON.stringify(place.name)} cannot be made (${codeOf(cause)}).`, cause)
  })
  await put(place, bytes, async (temporary, target) => {
    // Unlike a rename, a link fails when the target exists.
    await link(temporary, target)
  })
}

type Finish = (temporary: string, target: string, handle: Awaited<ReturnType<typeof open>>) => Promise<void>

async function put(place: WorkspacePath, bytes: Uint8Array, finish: Finish): Promise<void> {
  try {
    await inFolderOf(place, (folder) => putInto(folder, basename(place.real), bytes, finish))
  } catch (cause) {
    if (cause instanceof CriaError) throw cause
    throw problem(`${JSON.stringify(place.name)} cannot be written (${codeOf(cause)}).`, cause)
  }
}

async function putInto(folder: string, name: string, bytes: Uint8Array, finish: Finish): Promise<void> {
  const temporary = join(folder, `.cria-${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx')
    try {
      await handle.writeFile(bytes)
      await handle.sync()
      await finish(temporary, join(folder, name), handle)
    } finally {
      await handle.close()
    }
  } finally {
    await rm(temporary, { force: true })
  }
}
