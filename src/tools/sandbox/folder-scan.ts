/** Scans folders for files that are secret, or that decide what runs later. Does not read unchanged folders again. */

import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isClosed } from '../../util/glob.ts'
import { decidesWhatRuns, isSecretPath } from '../permissions/guarded-paths.ts'

export interface Find {
  /** Absolute path; the target of a link is in `real`. */
  readonly path: string
  readonly real: string
  readonly kind: 'file' | 'folder' | 'git'
  readonly isSecret: boolean
  /** True for a socket, on which a service may listen. */
  readonly isSocket: boolean
  readonly isDecisive: boolean
  /** True when the rules hide it. */
  readonly isHidden: boolean
  readonly isReadOnly: boolean
}

export interface ScanOptions {
  readonly hidden: readonly string[]
  readonly readOnly: readonly string[]
  /** Returns whether to enter a folder. @param depth counted from 1. */
  readonly enter: (name: string, depth: number) => boolean
}

interface KnownFolder {
  readonly state: string
  readonly finds: readonly Find[]
  readonly folders: readonly string[]
}

/** Milliseconds within which a change may not alter the modification time of a folder. */
const GRAIN = 50
const PAUSE_EVERY = 100

export class FolderScan {
  readonly #root: string
  #known = new Map<string, KnownFolder>()
  #rules = ''

  /** @param root real path of a folder. */
  constructor(root: string) {
    this.#root = root
  }

  async look(options: ScanOptions): Promise<readonly Find[]> {
    const rules = JSON.stringify([options.hidden, options.readOnly])
    if (rules !== this.#rules) this.#known.clear()
    this.#rules = rules
    const known = new Map<string, KnownFolder>()
    const finds: Find[] = []
    const left: (readonly [path: string, depth: number])[] = [[this.#root, 1]]
    for (let next = left.pop(), count = 1; next !== undefined; next = left.pop(), count++) {
      if (count % PAUSE_EVERY === 0) await setImmediate()
      const [path, depth] = next
      const folder = this.#folder(path, depth, options)
      if (folder === undefined) continue
      if (folder.state !== '') known.set(path, folder)
      finds.push(...folder.finds)
      for (const name of folder.folders) left.push([join(path, name), depth + 1])
    }
    this.#known = known
    return finds
  }

  #folder(path: string, depth: number, options: ScanOptions): KnownFolder | undefined {
    try {
      const { ctimeMs, ino, dev } = lstatSync(path)
      const state = `${ctimeMs} ${ino} ${dev}`
      const known = this.#known.get(path)
      if (known?.state === state) return known
      const isFresh = Math.abs(Date.now() - ctimeMs) < GRAIN
      return { ...this.#read(path, depth, options), state: isFresh ? '' : state }
    } catch {
      // The folder was removed, or is unreadable; commands cannot read it either.
      return undefined
    }
  }

  #read(folder: string, depth: number, options: ScanOptions): Omit<KnownFolder, 'state'> {
    const finds: Find[] = []
    const folders: string[] = []
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const find = this.#look(entry, path, options)
      if (find !== undefined) finds.push(find)
      const isClosedFolder =
        find !== undefined && (find.kind === 'git' || find.isHidden || (find.isSecret && find.kind === 'folder'))
      if (entry.isDirectory() && !isClosedFolder && options.enter(entry.name, depth)) folders.push(entry.name)
    }
    return { finds, folders }
  }

  #look(entry: Dirent, path: string, { hidden, readOnly }: ScanOptions): Find | undefined {
    const name = path.slice(this.#root.length + 1)
    const isLink = entry.isSymbolicLink()
    const real = isLink ? realOf(path) : path
    const isGit = entry.name.toLowerCase() === '.git'
    const isHidden = isClosed(path, hidden)
    const isReadOnly = isClosed(path, readOnly)
    const isSecret = !isGit && (isSecretPath(name) || (isLink && real !== undefined && isSecretPath(real)))
    const isDecisive = isGit || decidesWhatRuns(name)
    const isSocket = entry.isSocket()
    if (!isHidden && !isReadOnly && !isSecret && !isDecisive && !isSocket) return undefined
    const isFolder = entry.isDirectory() || (isLink && isFolderAt(real))
    const kind = isGit && isFolder ? 'git' : isFolder ? 'folder' : 'file'
    return { path, real: real ?? path, kind, isSecret, isSocket, isDecisive, isHidden, isReadOnly }
  }
}

/** Returns `undefined` for a dangling link. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

function isFolderAt(path: string | undefined): boolean {
  return path !== undefined && lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns an id that distinguishes files under the same name; `undefined` when there is no file. */
export function identityOf(path: string): string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false })
  return status === undefined ? undefined : `${status.dev}:${status.ino}`
}
