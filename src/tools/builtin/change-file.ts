/** Changes one file: compares it with the content that the model has read, shows the diff and writes it. */

import { countChanges, unifiedDiff } from '../../util/line-diff.ts'
import { Recent } from '../../util/recent.ts'
import type { Edits } from './edits.ts'
import { problem } from './open-file.ts'
import { bytesOf, createFile, hashOf, replaceFile, withoutReturns } from './text-file.ts'
import type { TextFile } from './text-file.ts'
import type { WorkspacePath } from './workspace.ts'

/** The planned change of a file. */
export interface Change {
  readonly place: WorkspacePath
  /** The current content; absent for a new file. */
  readonly before: TextFile | undefined
  /** The new content, with the line ends to be written. */
  readonly text: string
}

/** Records of the files that were read, and of those that were written. */
export interface Written {
  readonly known: KnownFiles
  readonly edits: Edits
}

/** A file that has changed is shown whole up to this number of characters. */
const SHOWN = 12_000

/** @throws CriaError `tool_failure` that shows the current content, when the file is not as the model has read it. */
export function checkKnown({ name, real }: WorkspacePath, file: TextFile, known: KnownFiles, sessionId: string): void {
  const seen = known.hashOf(sessionId, real)
  if (seen === file.hash) return
  if (seen === undefined)
    throw problem(`${JSON.stringify(name)} was not read yet: read it first, then change it. Nothing was written.`)
  const text = withoutReturns(file.text)
  if (text.length > SHOWN) {
    throw problem(`${JSON.stringify(name)} has changed since it was read: read it again, then change it. Nothing was written.`)
  }
  known.saw(sessionId, real, file.hash)
  throw problem(
    `${JSON.stringify(name)} has changed since it was read. Nothing was written. It is now (call again if the change still fits):\n${text}`,
  )
}

export function diffOf({ place, before, text }: Change): string {
  return unifiedDiff(place.name, withoutReturns(before?.text ?? ''), withoutReturns(text))
}

/** Writes the change; returns a summary of one line. */
export async function carryOut(change: Change, { known, edits }: Written, sessionId: string): Promise<string> {
  const { place, before, text } = change
  const bytes = bytesOf(text, before, place.name)
  const diff = diffOf(change)
  const { added, removed } = countChanges(diff)
  await (before === undefined ? createFile(place, bytes) : replaceFile(place, bytes, before))
  const hash = hashOf(bytes)
  known.saw(sessionId, place.real, hash)
  edits.add({ place, before, diff, added, removed, hash })
  return `${before === undefined ? 'Made' : 'Changed'} ${place.name}: ${added} ${added === 1 ? 'line' : 'lines'} added, ${removed} removed.`
}

const MAX_SESSIONS = 200
const MAX_FILES = 5000

export class KnownFiles {
  readonly #sessions = new Recent<Recent<string>>(MAX_SESSIONS)

  /** @param hash of the bytes that were read. */
  saw(sessionId: string, path: string, hash: string): void {
    const files = this.#sessions.get(sessionId) ?? new Recent<string>(MAX_FILES)
    this.#sessions.set(sessionId, files)
    files.set(path, hash)
  }

  hashOf(sessionId: string, path: string): string | undefined {
    return this.#sessions.get(sessionId)?.get(path)
  }
}
