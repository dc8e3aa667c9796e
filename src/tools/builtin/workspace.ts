/** The folder that the built-in tools work in, and what lies outside of it or is nobody's business. */

import { realpathSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { ToolSubject } from '../../core/tool.ts'
import { isSecretName } from '../../util/secret-files.ts'
import { realPathOf, realPathOfSync } from '../rules/real-path.ts'
import { isAmbiguousPath } from '../rules/subject.ts'

/** Folders whose files are keys, whatever they are called. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.password-store'])
/** What is written here decides which programs run later. */
const GUARDED_FOLDERS: ReadonlySet<string> = new Set(['.git', '.hg', '.svn'])

/** A path in the workspace, found out. */
export interface Place {
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
  async place(path: string): Promise<Place> {
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
  async placeToWrite(path: string): Promise<Place> {
    const place = await this.place(path)
    if (partsOf(place.name).some((part) => GUARDED_FOLDERS.has(part.toLowerCase()))) {
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

  /** Whether a path leads to what may hold secrets, or cannot be followed so that nobody knows. */
  isSecret(path: string): boolean {
    try {
      this.#check(path)
      const real = realPathOfSync(this.#absolute(path))
      return isInside(real, this.root) && isSecretPath(this.nameOf(real))
    } catch {
      // Refused by the tool itself.
      return false
    }
  }

  subject(path: string): ToolSubject {
    // Rules have a root of their own, so a relative path would mean another file there.
    const absolute = isAmbiguousPath(path) ? path : this.#absolute(path)
    return { kind: 'path', path: absolute, ...(this.isSecret(path) ? { sensitive: true } : {}) }
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

/** By the name of a file in the workspace and of the folders above it. */
export function isSecretPath(name: string): boolean {
  const parts = partsOf(name).map((part) => part.toLowerCase())
  // Addresses of remotes may hold tokens.
  const isGitConfig = parts.at(-1) === 'config' && parts.includes('.git')
  return isSecretName(name) || isGitConfig || parts.some((part) => SECRET_FOLDERS.has(part))
}

function isInside(path: string, root: string): boolean {
  const inside = relative(root, path)
  return inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside))
}

function partsOf(name: string): string[] {
  return name.split('/')
}

export function quoted(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path)
}
