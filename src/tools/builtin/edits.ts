/** Changes files: compares a file with the content that the model has read, writes it, and stores the edit for the user to view and undo. */

import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { countChanges, unifiedDiff } from '../../util/line-diff.ts'
import { Recent } from '../../util/recent.ts'
import { inFolderOf, problem } from './open-file.ts'
import { bytesOf, createFile, hashOf, readTextFile, replaceFile, withoutReturns } from './text-file.ts'
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

/** `left`: the file is as the edit left it. `changed`: the file has changed since. `undone`: the edit was undone. */
export type EditState = 'left' | 'changed' | 'undone'

export interface FileEdit {
  /** Counted from 1. */
  readonly number: number
  /** Path relative to the root of the tools. */
  readonly name: string
  /** A unified diff. */
  readonly diff: string
  readonly added: number
  readonly removed: number
  /** True when the edit created the file. */
  readonly isNew: boolean
}

interface Kept extends FileEdit {
  readonly place: WorkspacePath
  readonly before: TextFile | undefined
  /** SHA-256 of the written bytes, hexadecimal. */
  readonly hash: string
  isUndone: boolean
}

/** Characters of former contents and diffs that are kept; the oldest edits are dropped first. */
const MOST_KEPT = 50_000_000

/** The edits of one set of tools, oldest first. */
export class Edits {
  readonly #kept: Kept[] = []
  #count = 0
  #size = 0

  /** Stores a new edit. */
  add(edit: Omit<Kept, 'number' | 'isUndone' | 'isNew' | 'name'>): void {
    this.#kept.push({ ...edit, number: ++this.#count, name: edit.place.name, isNew: edit.before === undefined, isUndone: false })
    this.#size += sizeOf(edit)
    while (this.#size > MOST_KEPT && this.#kept.length > 1) this.#size -= sizeOf(this.#kept.shift() ?? edit)
  }

  get all(): readonly FileEdit[] {
    return this.#kept
  }

  /** Number of the newest edit that was not undone; `undefined` when there is none. */
  get last(): number | undefined {
    return this.#kept.findLast(({ isUndone }) => !isUndone)?.number
  }

  /** @throws CriaError `not_found` for an unknown number. */
  find(number: number): FileEdit {
    return this.#find(number)
  }

  async stateOf(number: number): Promise<EditState> {
    const edit = this.#find(number)
    if (edit.isUndone) return 'undone'
    return (await this.#isAsLeft(edit)) ? 'left' : 'changed'
  }

  /**
   * Undoes an edit: restores the former content, or deletes a file that the edit created.
   *
   * @throws CriaError `not_found` as `find`; `tool_failure` when the file has changed since the edit. The file is then not changed.
   */
  async undo(number: number): Promise<FileEdit> {
    const edit = this.#find(number)
    const { place, before } = edit
    if (edit.isUndone) throw new CriaError('tool_failure', `Edit ${number} was taken back already.`)
    if (!(await this.#isAsLeft(edit))) {
      const later = this.#kept.findLast((other) => other.place.real === place.real && !other.isUndone)
      throw new CriaError(
        'tool_failure',
        `${JSON.stringify(place.name)} is not as edit ${number} left it: it has changed since. Nothing was taken back.`,
        later === undefined || later === edit ? {} : { hint: `Take back edit ${later.number} first: /undo ${later.number}` },
      )
    }
    if (before === undefined) await inFolderOf(place, (folder) => rm(`${folder}/${basename(place.real)}`))
    else await replaceFile(place, bytesOf(before.text, before, place.name), before)
    edit.isUndone = true
    return edit
  }

  #find(number: number): Kept {
    const edit = this.#kept.find((each) => each.number === number)
    if (edit === undefined) throw new CriaError('not_found', `There is no edit ${number}.`, { hint: '/changes lists them.' })
    return edit
  }

  async #isAsLeft({ place, hash }: Kept): Promise<boolean> {
    return (await readTextFile(place).catch(() => undefined))?.hash === hash
  }
}

function sizeOf({ before, diff }: Pick<Kept, 'before' | 'diff'>): number {
  return (before?.text.length ?? 0) + diff.length
}
