/** Reads a text file for editing, and writes it back with its own line ends and encoding. */

import { createHash } from 'node:crypto'
import { decode, encode } from './encoding.ts'
import type { Encoded } from './encoding.ts'
import { lineEndsOf, withLineEnds, withoutReturns } from './line-ends.ts'
import type { LineEnd } from './line-ends.ts'
import { openFile, problem, readWhole } from './open-file.ts'
import type { WorkspacePath } from './workspace.ts'

export const MAX_EDITED_BYTES = 10_000_000

export interface TextFile {
  /** Line feeds only. */
  readonly text: string
  readonly ends: readonly LineEnd[]
  readonly encoded: Encoded
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
    const encoded = decode(bytes)
    if (encoded === undefined) throw problem(`${JSON.stringify(place.name)} is no text file.`)
    const { mode, uid, gid } = file.stats
    return {
      text: withoutReturns(encoded.text),
      ends: lineEndsOf(encoded.text),
      encoded,
      hash: hashOf(bytes),
      mode: Number(mode) & 0o7777,
      owner: { uid: Number(uid), gid: Number(gid) },
    }
  } finally {
    await file.handle.close()
  }
}

/** @throws CriaError `tool_failure` when the text cannot be written in the file's encoding. */
export function bytesOf(text: string, ends: readonly LineEnd[], { encoding, mark }: Omit<Encoded, 'text'>, name: string): Buffer {
  const bytes = encode({ text: withLineEnds(text, ends), encoding, mark })
  if (bytes === undefined) {
    throw problem(`The new text holds characters that ${JSON.stringify(name)} cannot hold: the file is in ${encoding}.`)
  }
  return bytes
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
