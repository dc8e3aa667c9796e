/** Changes one file: compares it with what the model has seen, shows the change and writes it. */

import { countChanges, unifiedDiff } from '../../util/line-diff.ts'
import { Recent } from '../../util/recent.ts'
import type { Edits } from './edits.ts'
import { problem } from './open-file.ts'
import { bytesOf, createFile, hashOf, replaceFile, withoutReturns } from './text-file.ts'
import type { TextFile } from './text-file.ts'
import type { WorkspacePath } from './workspace.ts'

/** What a file is to become. */
export interface Change {
  readonly place: WorkspacePath
  /** Absent for a file that is new. */
  readonly before: TextFile | undefined
  /** With the line ends that are written. */
  readonly text: string
}

/** What remembers the files that were seen, and those that were written. */
export interface Written {
  readonly known: KnownFiles
  readonly edits: Edits
}

/** So much of a file that has changed is shown at once. */
const SHOWN = 12_000

/** @throws CriaError `tool_failure` that shows what the file is now, when that is not what the model has read. */
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

/** Writes it; returns what was done, in one line. */
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

  /** @param hash of the bytes that were seen. */
  saw(sessionId: string, path: string, hash: string): void {
    const files = this.#sessions.get(sessionId) ?? new Recent<string>(MAX_FILES)
    this.#sessions.set(sessionId, files)
    files.set(path, hash)
  }

  hashOf(sessionId: string, path: string): string | undefined {
    return this.#sessions.get(sessionId)?.get(path)
  }
}
