/**
 * Runs git in an untrusted repository without executing anything that the repository provides.
 *
 * What its configuration and attributes could run, and what stops it:
 *
 * | a program named by | is stopped by |
 * |---|---|
 * | `core.fsmonitor`, `core.virtualFilesystem` | set to nothing |
 * | hooks, `core.hooksPath` | hooks are looked for where none are; `--no-optional-locks` writes no index, so that no hook is due |
 * | `filter.*.clean`, `filter.*.process` | every filter that any configuration names is set to nothing |
 * | a promised object that has to be fetched (`uploadpack`, `core.sshCommand`, `ext::`, remote helpers) | no lazy fetch, no protocol |
 * | submodules, which have configurations of their own | `--ignore-submodules=all` |
 * | pager, aliases, diff and textconv drivers | not used by what is run here; the pager is off |
 * | a repository hidden in a folder without `.git` | `safe.bareRepository=explicit` |
 * | a `git` in the repository, or in a folder of PATH that lies in it | git is taken from absolute folders outside of it |
 * | `GIT_*` in the environment | the environment is made anew |
 *
 * `core.worktree` cannot point elsewhere either. The user's own configuration applies, including `safe.directory`: git itself refuses
 * a repository of another owner.
 */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { gitVariables, HARMLESS_GIT } from '../../util/environment.ts'
import type { GitSettings } from '../../util/environment.ts'
import { isInside } from '../../util/files.ts'
import { realPath } from '../paths.ts'

export interface GitSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Time limit of each run in milliseconds. */
  readonly timeout: number
  /** Bytes of output that are kept; the rest is cut off. */
  readonly maxBytes: number
}

export type GitOutcome =
  | { readonly output: string; readonly isCut: boolean }
  /** Why no output is available, for a person to read. */
  | { readonly problem: string }

const HARMLESS: GitSettings = [
  ...HARMLESS_GIT,
  ['core.pager', 'cat'],
  ['core.quotePath', 'false'],
  ['core.sshCommand', 'false'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['protocol.allow', 'never'],
  ['status.submoduleSummary', 'false'],
  ['submodule.recurse', 'false'],
]

/**
 * Runs git at the root of a work tree.
 *
 * @param root Real path of the folder that holds `.git`.
 * @throws the reason of the signal when it is aborted, nothing else.
 */
export async function runGit(root: string, args: readonly string[], surroundings: GitSurroundings): Promise<GitOutcome> {
  const path = safePath(surroundings.env, root)
  const git = findGit(path, root, surroundings.env)
  if (git === undefined) return { problem: 'git is not installed' }
  const place = { ...surroundings, git, root, path }

  const filters = await readFilters(place)
  if ('problem' in filters) return filters
  return run(args, [...HARMLESS, ...filters.overrides], place)
}

interface Place extends GitSurroundings {
  /** Absolute path of the program. */
  readonly git: string
  readonly root: string
  readonly path: string
}

/**
 * Switches off every filter that any configuration names. A marker setting shows whether git accepts overrides from the environment; a git
 * before 2.31 ignores them and is not used.
 */
async function readFilters(place: Place): Promise<{ readonly overrides: GitSettings } | { readonly problem: string }> {
  const marker = `cria.marker-${randomUUID()}`
  const named = await run(
    ['config', '-z', '--name-only', '--get-regexp', `^(filter\\.|${marker.replace('.', '\\.')}$)`],
    [...HARMLESS, [marker, '1']],
    { ...place, maxBytes: 1 << 20 },
  )
  if ('problem' in named) return named
  if (named.isCut) return { problem: 'its configuration names too many filters' }
  // A name that is not UTF-8 cannot be passed in the environment, so the filter cannot be switched off.
  if (named.output.includes('\uFFFD')) return { problem: 'its configuration names a filter whose name is not UTF-8' }
  const keys = named.output.split('\0')
  if (!keys.includes(marker)) return { problem: 'this git cannot be run safely; version 2.31 or later is needed' }
  // The name of a filter may be empty.
  const drivers = new Set(keys.flatMap((key) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []))
  const overrides = [...drivers].flatMap((driver): GitSettings => [
    [`filter.${driver}.clean`, ''],
    [`filter.${driver}.smudge`, ''],
    [`filter.${driver}.process`, ''],
    [`filter.${driver}.required`, 'false'],
  ])
  return { overrides }
}

/** Environment variables with which git and its helper programs find the user's configuration and temporary files. */
const PASSED_ON = [
  'HOME',
  'XDG_CONFIG_HOME',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'SystemRoot',
  'TEMP',
  'TMP',
  'TMPDIR',
]

function environment({ env, root, path }: Place, overrides: GitSettings): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]))
  return {
    ...Object.fromEntries(passed),
    PATH: path,
    LC_ALL: 'C',
    GIT_CEILING_DIRECTORIES: dirname(root),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    ...gitVariables(overrides),
  }
}

function run(args: readonly string[], overrides: GitSettings, place: Place): Promise<GitOutcome> {
  const { git, root, signal, timeout, maxBytes } = place
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const hasGroups = process.platform !== 'win32'
    const child = spawn(git, ['--no-pager', '--no-optional-locks', `--work-tree=${root}`, ...args], {
      cwd: root,
      env: environment(place, overrides),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: hasGroups,
      windowsHide: true,
    })
    // Kills the whole process group.
    const kill = (): void => {
      try {
        if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      } catch {
        // The process has ended in the meantime.
      }
    }

    const output: Buffer[] = []
    const complaint: Buffer[] = []
    let size = 0
    let isCut = false
    let isLate = false
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (!isCut) output.push(chunk)
      if (size > maxBytes) {
        isCut = true
        kill()
      }
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < 16) complaint.push(chunk)
    })
    const timer = setTimeout(() => {
      isLate = true
      kill()
    }, timeout)
    const onAbort = (): void => {
      kill()
      settle(() => reject(signal.reason))
    }
    const settle = (end: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      end()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    child.on('error', (error) => settle(() => resolve({ problem: `git cannot be started: ${error.message}` })))
    child.on('close', (code) => {
      settle(() => {
        if (isLate) resolve({ problem: `git did not answer within ${timeout} ms` })
        else if (isCut || code === 0)
          resolve({ output: withoutBrokenEnd(Buffer.concat(output).subarray(0, maxBytes), isCut), isCut })
        else resolve({ problem: firstLine(Buffer.concat(complaint).toString('utf8')) || `git ended with code ${String(code)}` })
      })
    })
  })
}

/** Cuts incomplete output after its last whole line. */
function withoutBrokenEnd(bytes: Buffer, isCut: boolean): string {
  return (isCut ? bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1) : bytes).toString('utf8')
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 300) ?? ''
}

/** Returns the absolute folders of PATH outside of the repository: `.` or `node_modules/.bin` could contain a git of the repository. */
function safePath(env: GitSurroundings['env'], root: string): string {
  const name = Object.keys(env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH'
  return (env[name] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(realPath(folder), root))
    .join(delimiter)
}

function findGit(path: string, root: string, env: GitSurroundings['env']): string | undefined {
  const isWindows = process.platform === 'win32'
  const endings = isWindows ? (env['PATHEXT'] ?? '.EXE').split(';').filter((end) => /^\.exe$/i.test(end)) : ['']
  const candidates = path.split(delimiter).flatMap((folder) => endings.map((ending) => join(folder, `git${ending}`)))
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return !isInside(realPath(file), root)
    } catch {
      return false
    }
  })
}
