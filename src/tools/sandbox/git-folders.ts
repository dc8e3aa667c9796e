/** The parts of a repository's data that name programs, and the data of a work tree that lies elsewhere. */

import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Files and folders below `.git` that decide what git runs. */
const DECISIVE = ['config', 'config.worktree', 'hooks', 'info/attributes', 'commondir', 'gitdir']
const MAX_DEPTH = 6

/** What of the data is only read, and that of submodules. Paths that are there. */
export function decisiveParts(data: string): readonly string[] {
  return [
    ...DECISIVE.map((name) => join(data, name)).filter((path) => existsSync(path)),
    ...inModules(join(data, 'modules'), MAX_DEPTH),
  ]
}

/** Submodules have data of their own, under names with folders in them. */
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
 * The data of the repository that a work tree belongs to, where `.git` is a file. A file alone proves nothing: the data has to point back to
 * this work tree, which nobody can arrange who may only write here.
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

/** A password in an address, or a header that is sent along. */
const CREDENTIAL = /:\/\/[^/\s:@]*:[^/\s@]+@|:\/\/(?!git@)[^/\s:@]{16,}@|extraheader|password|token|secret|_auth/i

/** Whether a file of settings holds what nobody else should read. */
export function holdsCredential(config: string): boolean {
  try {
    return CREDENTIAL.test(readFileSync(config, 'utf8'))
  } catch {
    // What cannot be read may hold anything.
    return existsSync(config)
  }
}

const PLAIN_KEY =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf)|remote\..*\.(?:url|fetch|pushurl|tagopt)|branch\..*\.(?:remote|merge|rebase)|user\.(?:name|email)|extensions\.\w+|submodule\..*\.(?:url|active)|submodule\.active|init\.defaultbranch)$/i

/** Whether a repository that a command has made is one as git makes it: its configuration names no program, its hooks are examples. */
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
