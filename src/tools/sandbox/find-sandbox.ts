/** Detects, once in a process and by a trial run, whether this system can confine commands. */

import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { bubblewrapWords, NO_WALLS } from './walls.ts'

export type FoundSandbox =
  | { readonly kind: 'bubblewrap' | 'seatbelt'; readonly program: string }
  | { readonly kind: 'none'; readonly reason: string; readonly hint: string }

/** Fixed paths, not PATH, because a project could bring its own program. */
const BUBBLEWRAP = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap']
const SEATBELT = '/usr/bin/sandbox-exec'
const PATIENCE = 3000

let found: Promise<FoundSandbox> | undefined

export function findSandbox(): Promise<FoundSandbox> {
  found ??= trySandbox(process.platform, existsSync, run)
  return found
}

type Run = (program: string, words: readonly string[]) => Promise<string | undefined>

/** @param run starts a program; resolves to the problem, or `undefined`. */
export async function trySandbox(platform: string, exists: (path: string) => boolean, run: Run): Promise<FoundSandbox> {
  if (platform === 'darwin') {
    const problem = exists(SEATBELT)
      ? await run(SEATBELT, ['-p', '(version 1)(allow default)', '/usr/bin/true'])
      : 'it is not installed'
    return problem === undefined
      ? { kind: 'seatbelt', program: SEATBELT }
      : none(`sandbox-exec cannot be used: ${problem}`, 'Sandboxes may be forbidden inside another sandbox.')
  }
  if (platform !== 'linux') return none('there is no sandbox for this system', 'Commands are confined on Linux and macOS.')
  const program = BUBBLEWRAP.find(exists)
  if (program === undefined) return none('bubblewrap is not installed', 'Install the package "bubblewrap" of your system.')
  const walls = { ...NO_WALLS, root: '/usr', temporary: tmpdir() }
  const words = bubblewrapWords(walls, exists).map((word) => (word === '--bind' ? '--ro-bind' : word))
  const problem = await run(program, [...words, '/bin/sh', '-c', ':'])
  if (problem === undefined) return { kind: 'bubblewrap', program }
  return none(
    `bubblewrap cannot be used here: ${problem}`,
    'Unprivileged user namespaces may be switched off (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), or this is a container that forbids them.',
  )
}

function none(reason: string, hint: string): FoundSandbox {
  return { kind: 'none', reason, hint }
}

async function run(program: string, words: readonly string[]): Promise<string | undefined> {
  // Loaded on first use, because every module that reads the configuration imports this file.
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    execFile(program, words, { timeout: PATIENCE, env: { PATH: '/usr/bin:/bin' } }, (error, _out, complaint) => {
      if (error === null) resolve(undefined)
      else resolve(complaint.trim().split('\n', 1)[0]?.slice(0, 300) || `it ended with ${String(error.code ?? error.signal)}`)
    })
  })
}
