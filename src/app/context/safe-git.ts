/**
 * Runs git in a repository that nobody trusts, so that nothing of the repository is executed.
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
 * `core.worktree` cannot point elsewhere either. The user's own configuration counts, `safe.directory` with it: a repository of
 * another owner is refused by git itself.
 */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { gitVariables, HARMLESS_GIT } from '../../util/git-settings.ts'
import type { GitSettings } from '../../util/git-settings.ts'
import { isInside } from '../../util/files.ts'
import { realPath } from '../paths.ts'

export interface GitSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Milliseconds for each run. */
  readonly timeout: number
  /** Bytes of output that are kept. */
  readonly maxBytes: number
}

export type GitOutcome =
  | { readonly output: string; readonly isCut: boolean }
  /** Why there is none, for a person. */
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
 * Switches off every filter that any configuration names. A marker tells whether this git heeds overrides at all; one before 2.31 does
 * not, and is not used.
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
  // What is no UTF-8 cannot be named in the environment, and so not be switched off.
  if (named.output.includes('\uFFFD')) return { problem: 'its configuration names a filter that is no UTF-8' }
  const keys = named.output.split('\0')
  if (!keys.includes(marker)) return { problem: 'this git cannot be run safely; version 2.31 or later is needed' }
  // A filter may have the empty name.
  const drivers = new Set(keys.flatMap((key) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []))
  const overrides = [...drivers].flatMap((driver): GitSettings => [
    [`filter.${driver}.clean`, ''],
    [`filter.${driver}.smudge`, ''],
    [`filter.${driver}.process`, ''],
    [`filter.${driver}.required`, 'false'],
  ])
  return { overrides }
}

/** What git and the programs of its own need from the environment to find the user's configuration, and temporary files. */
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
    // With whatever it has started itself.
    const kill = (): void => {
      try {
        if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        else child.kill('SIGKILL')
      } catch {
        // It has ended in the meantime.
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

/** Of output that was cut, whole lines. */
function withoutBrokenEnd(bytes: Buffer, isCut: boolean): string {
  return (isCut ? bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1) : bytes).toString('utf8')
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 300) ?? ''
}

/** The absolute folders of PATH outside of the repository: neither `.` nor `node_modules/.bin` may bring a git of its own. */
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
