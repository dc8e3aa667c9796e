/** Resolves paths in the working folder, and refuses those outside of it. */

import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { ToolSubject } from '../../core/tool.ts'
import { isInside } from '../../util/files.ts'
import { decidesWhatRuns, isSecretPath, isVersionControl } from '../permissions/guarded-paths.ts'
import { realPathOf, realPathOfSync } from '../../util/real-path.ts'
import { isAmbiguousPath } from '../permissions/subject.ts'

type PathSubject = Extract<ToolSubject, { readonly kind: 'path' }>

/** A path in the workspace, found out. */
export interface WorkspacePath {
  /** Absolute, every link followed. */
  readonly real: string
  /** For people and models: relative to the root, with `/`; `.` for the root. */
  readonly name: string
}

export class Workspace {
  /** Absolute, every link followed. */
  readonly root: string

  /** @throws ConfigurationError when the root is no folder that can be read. */
  constructor(root: string) {
    try {
      this.root = realpathSync.native(resolve(root))
    } catch (cause) {
      throw new ConfigurationError(`The root of the tools, ${JSON.stringify(root)}, cannot be found.`, { cause })
    }
  }

  /** @throws CriaError `permission_denied` for what lies outside the root, `tool_failure` for what is no plain path. */
  async place(path: string): Promise<WorkspacePath> {
    this.#check(path)
    const real = await realPathOf(this.#absolute(path)).catch((cause: unknown) => {
      throw new CriaError('tool_failure', `The path ${quoted(path)} cannot be followed.`, { cause })
    })
    if (!isInside(real, this.root)) {
      throw new CriaError('permission_denied', `${quoted(path)} lies outside of the folder that these tools work in.`)
    }
    return { real, name: this.nameOf(real) }
  }

  /** As `place`, for what is written: never into the data of version control. */
  async placeToWrite(path: string): Promise<WorkspacePath> {
    const place = await this.place(path)
    if (isVersionControl(place.name) || this.#isInRepositoryData(place.real)) {
      throw new CriaError('permission_denied', `${quoted(path)} belongs to version control and is not written to.`)
    }
    return place
  }

  nameOf(real: string): string {
    return relative(this.root, real).split(sep).join('/') || '.'
  }

  /** What a call touches, for the schedule: two names of one file are one. A path that cannot be followed counts as the whole root. */
  key(path: string): string {
    try {
      this.#check(path)
      return realPathOfSync(this.#absolute(path))
    } catch {
      return `${this.root}/`
    }
  }

  /** Whether a path leads to what may hold secrets. One that cannot be followed does not: the tool itself refuses it. */
  isSecret(path: string): boolean {
    try {
      this.#check(path)
      const real = realPathOfSync(this.#absolute(path))
      return isInside(real, this.root) && isSecretPath(this.nameOf(real))
    } catch {
      return false
    }
  }

  subject(path: string): PathSubject {
    // Rules have a root of their own, so a relative path would mean another file there.
    const absolute = isAmbiguousPath(path) ? path : this.#absolute(path)
    return { kind: 'path', path: absolute, ...(this.isSecret(path) ? { sensitive: true } : {}) }
  }

  /** As `subject`, for what is written: what may run later has to be named by a rule, too. */
  subjectToWrite(path: string): PathSubject {
    const subject = this.subject(path)
    return decidesWhatRuns(this.key(path)) ? { ...subject, sensitive: true } : subject
  }

  /** The data of a repository under any name: `.bare`, `project.git`. */
  #isInRepositoryData(real: string): boolean {
    for (let folder = dirname(real); isInside(folder, this.root) && folder !== dirname(folder); folder = dirname(folder)) {
      if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)))) return true
    }
    return false
  }

  /** `..` is left in: what it means depends on the links before it. */
  #absolute(path: string): string {
    return isAbsolute(path) ? path : `${this.root}${sep}${path}`
  }

  #check(path: string): void {
    if (!isAmbiguousPath(path)) return
    throw new CriaError(
      'tool_failure',
      `${quoted(path)} is no plain path: give one relative to the working folder, without "~", "file://", backslashes, escapes or control characters.`,
    )
  }
}

export function quoted(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path)
}
