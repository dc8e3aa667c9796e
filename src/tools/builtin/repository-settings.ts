/** Switches off the programs that repositories in the workspace name for git, where no sandbox holds them. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { HARMLESS_GIT } from '../../util/git-settings.ts'
import type { GitSettings } from '../../util/git-settings.ts'

/** Settings that name a program, or a place to find one. */
const PROGRAMS =
  /^(?:filter\..*\.(?:clean|smudge|process|required)|diff\..*\.(?:command|textconv)|diff\.external|merge\..*\.driver|(?:diff|merge)tool\..*|alias\..*|core\.(?:sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|attributesfile)|credential\..*|gpg\..*|sequence\.editor|interactive\.difffilter|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|submodule\..*\.update|trailer\..*\.(?:command|cmd)|uploadpack\..*|url\..*|web\..*|browser\..*|man\..*|help\..*|pager\..*|sendemail\..*|protocol\..*|lfs\..*|core\.worktree)$/is
const PATIENCE = 2000
const MOST_BYTES = 1 << 20

/** @param repositories paths of folders `.git`. */
export async function repositorySettings(repositories: readonly string[]): Promise<GitSettings> {
  const keys = await Promise.all(repositories.map((data) => keysOf(join(data, 'config'))))
  const named = [...new Set(keys.flat())].filter((key) => PROGRAMS.test(key))
  return [...HARMLESS_GIT, ...named.map((key) => [key, /\.required$/i.test(key) ? 'false' : ''] as const)]
}

/** The names of settings in a file, and in those that it includes: read by git itself, which runs nothing for that. */
function keysOf(file: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const words = ['config', '--file', file, '--includes', '--null', '--name-only', '--list']
    const options = {
      timeout: PATIENCE,
      maxBuffer: MOST_BYTES,
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin' },
    }
    // What cannot be read by git names no program for git either.
    execFile('git', words, options, (_error, output) => resolve(output.split('\0').filter((key) => key !== '')))
  })
}
