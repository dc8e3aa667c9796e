/** Reads a text file for editing, and writes text back in its encoding. Models neither see nor write carriage returns before line feeds. */

import { createHash } from 'node:crypto'
import { decode, encode } from './encoding.ts'
import type { Encoded } from './encoding.ts'
import { openFile, problem, readWhole } from './open-file.ts'
import type { WorkspacePath } from './workspace.ts'

export const MAX_EDITED_BYTES = 10_000_000

export interface TextFile {
  /** With its own line ends. */
  readonly text: string
  readonly encoding: Omit<Encoded, 'text'>
  /** Of the bytes. */
  readonly hash: string
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number }
}

/** @returns `undefined` where there is nothing. @throws CriaError `tool_failure` for what is no text or too large. */
export async function readTextFile(place: WorkspacePath): Promise<TextFile | undefined> {
  const file = await openFile(place)
  if (file === undefined) return undefined
  try {
    const bytes = await readWhole(file, place, MAX_EDITED_BYTES)
    const decoded = decode(bytes)
    if (decoded === undefined) throw problem(`${JSON.stringify(place.name)} is no text file.`)
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

/** Line feeds only. */
export function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** The end of most lines of a text; a tie, and no line at all, is a line feed. */
export function usualLineEnd(text: string): '\n' | '\r\n' {
  return text.split('\r\n').length - 1 > (text.split('\n').length - 1) / 2 ? '\r\n' : '\n'
}
