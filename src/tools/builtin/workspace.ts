/** Resolves paths in the working folder, and refuses paths outside of it. */

import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { ToolSubject } from '../../core/tool.ts'
import { isInside } from '../../util/files.ts'
import { decidesWhatRuns, isSecretPath, isVersionControl } from '../permissions/guarded-paths.ts'
import { realPathOf, realPathOfSync } from '../../util/real-path.ts'
import { isAmbiguousPath } from '../permissions/subject.ts'

type PathSubject = Extract<ToolSubject, { readonly kind: 'path' }>

/** A resolved path in the workspace. */
export interface WorkspacePath {
  /** Absolute path with every link resolved. */
  readonly real: string
  /** Name for users and models: relative to the root, with `/`; `.` for the root. */
  readonly name: string
}

export class Workspace {
  /** Absolute path with every link resolved. */
  readonly root: string

  /** @throws ConfigurationError when the root is not a readable folder. */
  constructor(root: string) {
    try {
      this.root = realpathSync.native(resolve(root))
    } catch (cause) {
      throw new ConfigurationError(`The root of the tools, ${JSON.stringify(root)}, cannot be found.`, { cause })
    }
  }

  /** @throws CriaError `permission_denied` for a path outside the root, `tool_failure` for an ambiguous path. */
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

  /** Resolves a path for writing, as `place`, but refuses the data of version control. */
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

  /** Returns the resource name of a path, equal for two names of one file. A path that cannot be resolved counts as the whole root. */
  key(path: string): string {
    try {
      this.#check(path)
      return realPathOfSync(this.#absolute(path))
    } catch {
      return `${this.root}/`
    }
  }

  /** Returns whether a path leads to a file that may hold secrets. False for an unresolvable path, which the tool itself refuses. */
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
    // Rules have a separate root, so a relative path could mean another file there.
    const absolute = isAmbiguousPath(path) ? path : this.#absolute(path)
    return { kind: 'path', path: absolute, ...(this.isSecret(path) ? { sensitive: true } : {}) }
  }

  /** Returns the subject for writing, as `subject`; paths that decide what runs later must be named by a rule as well. */
  subjectToWrite(path: string): PathSubject {
    const subject = this.subject(path)
    return decidesWhatRuns(this.key(path)) ? { ...subject, sensitive: true } : subject
  }

  /** Detects the data of a repository under any name: `.bare`, `project.git`. */
  #isInRepositoryData(real: string): boolean {
    for (let folder = dirname(real); isInside(folder, this.root) && folder !== dirname(folder); folder = dirname(folder)) {
      if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)))) return true
    }
    return false
  }

  /** Makes a path absolute and keeps `..`, whose meaning depends on the links before it. */
  #absolute(path: string): string {
    return isAbsolute(path) ? path : `${this.root}${sep}${path}`
  }

  #check(path: string): void {
    if (!isAmbiguousPath(path)) return
    throw new CriaError(
      'tool_failure',
      `${quoted(path)} is not a plain path: give one relative to the working folder, without "~", "file://", backslashes, escapes or controls.`,
    )
  }
}

export function quoted(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path)
}
