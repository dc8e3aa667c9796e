/** Text of a file for a request: only from inside of a folder, never secrets, never more than asked for. */

import { open, realpath } from 'node:fs/promises'
import { basename, relative, sep } from 'node:path'
import { isSecretPath } from '../../tools/permissions/guarded-paths.ts'
import { AS_IT_WAS_FOUND, isInside } from '../../util/files.ts'
import { holdsPrivateKey } from '../../util/secret-files.ts'

export interface FileText {
  /** Relative to the root, with `/`, as it was asked for and with every link followed. */
  readonly name: string
  readonly realName: string
  readonly text: string
  readonly isCut: boolean
}

/**
 * @param path absolute.
 * @param root real path of the folder that may be read.
 * @returns `undefined` where there is no file; why it is left out where it is.
 */
export async function readText(
  path: string,
  root: string,
  maxBytes: number,
): Promise<FileText | { readonly skipped: string } | undefined> {
  let real: string
  try {
    real = await realpath(path)
  } catch (error) {
    return isGone(error) ? undefined : { skipped: 'it cannot be followed' }
  }
  if (!isInside(real, root)) return { skipped: 'it leads out of the folder' }
  const realName = nameIn(root, real)
  if (realName.split('/').includes('.git')) return { skipped: 'it belongs to git' }
  if (isSecretPath(basename(path)) || isSecretPath(realName)) return { skipped: 'it may hold secrets' }

  try {
    const read = await readBeginning(real, maxBytes)
    if (read === undefined) return undefined
    const text = textOf(read.bytes, read.isCut)
    if (text === undefined) return { skipped: 'it is no text' }
    if (holdsPrivateKey(text)) return { skipped: 'it may hold secrets (a private key)' }
    return { name: isInside(path, root) ? nameIn(root, path) : realName, realName, text, isCut: read.isCut }
  } catch (error) {
    return isGone(error) ? undefined : { skipped: 'it cannot be read' }
  }
}

/** `undefined` for what is no regular file. */
async function readBeginning(real: string, maxBytes: number): Promise<{ bytes: Uint8Array; isCut: boolean } | undefined> {
  const file = await open(real, AS_IT_WAS_FOUND)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return undefined
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, maxBytes))
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return { bytes: bytes.subarray(0, length), isCut: stats.size > maxBytes }
  } finally {
    await file.close()
  }
}

/** UTF-8, or UTF-16 with its mark; a character that the cut went through is left out. `undefined` for anything else. */
function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut })
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

function nameIn(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
