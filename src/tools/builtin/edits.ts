/** Stores the edits that tools make to files, so that the user can view and undo them. */

import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { CriaError } from '../../core/error.ts'
import { inFolderOf } from './open-file.ts'
import { bytesOf, readTextFile, replaceFile } from './text-file.ts'
import type { TextFile } from './text-file.ts'
import type { WorkspacePath } from './workspace.ts'

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
