/** Finds the parts of a repository's data that name programs, and the data of a work tree that is stored elsewhere. */

import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

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
