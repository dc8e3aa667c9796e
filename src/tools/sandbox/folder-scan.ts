/**
 * Finds what a sandbox has to guard in folders: files that are secret or decide what runs later, and the parts of repository data that
 * name programs.
 */

import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
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

/** Scans a folder. Does not read unchanged folders again. */
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

/** Files and folders below `.git` that decide what git runs. */
const DECISIVE = ['config', 'config.worktree', 'hooks', 'info/attributes', 'commondir', 'gitdir']
const MAX_DEPTH = 6

/** Returns the existing parts of the data, and of submodules, that must be read-only. */
export function decisiveParts(data: string): readonly string[] {
  return [
    ...DECISIVE.map((name) => join(data, name)).filter((path) => existsSync(path)),
    ...inModules(join(data, 'modules'), MAX_DEPTH),
  ]
}

/** Returns the parts of submodules, whose names may contain folders. */
function inModules(folder: string, depth: number): readonly string[] {
  return subfolders(folder).flatMap((name) => {
    const path = join(folder, name)
    if (existsSync(join(path, 'HEAD'))) return decisiveParts(path)
    return depth === 0 ? [] : inModules(path, depth - 1)
  })
}

function subfolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  } catch {
    return []
  }
}

/**
 * Returns the repository data of a work tree in which `.git` is a file. The data must point back to this work tree: a command that
 * may write only here could forge the file, but not the data.
 */
export function dataElsewhere(root: string): string | undefined {
  try {
    const file = join(root, '.git')
    if (!lstatSync(file).isFile()) return undefined
    const own = resolve(root, /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '.')
    if (resolve(own, readFileSync(join(own, 'gitdir'), 'utf8').trim()) !== file) return undefined
    const data = resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim())
    return dirname(dirname(own)) === data && existsSync(join(data, 'objects')) ? data : undefined
  } catch {
    return undefined
  }
}

/** Matches a password in a URL, or a header with credentials. */
const CREDENTIAL = /:\/\/[^/\s:@]*:[^/\s@]+@|:\/\/(?!git@)[^/\s:@]{16,}@|extraheader|password|token|secret|_auth/i

/** Returns whether a git configuration file holds a credential. */
export function holdsCredential(config: string): boolean {
  try {
    return CREDENTIAL.test(readFileSync(config, 'utf8'))
  } catch {
    // An unreadable file may hold a credential.
    return existsSync(config)
  }
}

const PLAIN_KEY =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf)|remote\..*\.(?:url|fetch|pushurl|tagopt)|branch\..*\.(?:remote|merge|rebase)|user\.(?:name|email)|extensions\.\w+|submodule\..*\.(?:url|active)|submodule\.active|init\.defaultbranch)$/i

/** Returns whether a new repository is as git creates it: its configuration names no program, its hooks are samples. */
export function isPlainRepository(data: string): boolean {
  try {
    let section = ''
    for (const line of readFileSync(join(data, 'config'), 'utf8')
      .split('\n')
      .map((each) => each.trim())) {
      if (line === '' || /^[#;]/.test(line)) continue
      const [, name, sub] = /^\[([\w.-]+)(?:\s+"([^"\\]*)")?\]$/.exec(line) ?? []
      const [, key, value] = /^([\w-]+)\s*=\s*([^"\\]*)$/.exec(line) ?? []
      if (name !== undefined) section = sub === undefined ? name : `${name}.${sub}`
      else if (key === undefined || !PLAIN_KEY.test(`${section}.${key}`) || /^(?:\w+::|-)|^ext:/.test(value ?? '')) return false
    }
    if (existsSync(join(data, 'config.worktree')) || existsSync(join(data, 'modules'))) return false
    return !existsSync(join(data, 'hooks')) || readdirSync(join(data, 'hooks')).every((hook) => hook.endsWith('.sample'))
  } catch {
    return false
  }
}
