/** The state of the repository at the beginning of a turn. */

import type { ContextSource } from '../../core/injection.ts'
import { repositoryRoot } from './root.ts'
import { runGit } from './safe-git.ts'

/** A repository that is slower than this is not waited for: the question is. */
const TIMEOUT = 3000

export interface GitStatusOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly maxTokens: number
  /** Milliseconds; default 3000. */
  readonly timeout?: number
}

const STATUS = ['status', '--porcelain=v1', '--branch', '--untracked-files=normal', '--ignore-submodules=all', '--no-renames']

export function gitStatusSource({ cwd, env, maxTokens, timeout = TIMEOUT }: GitStatusOptions): ContextSource {
  return {
    name: 'git',
    maxTokens,
    async load(request) {
      const root = repositoryRoot(cwd)
      if (root === undefined) return []
      // More bytes than any tokenizer needs for that many tokens of names.
      const maxBytes = Math.max(1024, request.maxTokens * 8)
      const outcome = await runGit(root, STATUS, { env, signal: request.signal, timeout, maxBytes })
      if ('problem' in outcome) {
        request.notice(`The state of the repository is left out: ${outcome.problem}.`)
        return []
      }
      const { output, isCut } = outcome
      const isClean = !output.trimEnd().includes('\n')
      return [
        {
          title: 'state of the repository at the beginning of this turn',
          source: 'git status --short --branch',
          text: `${output.trimEnd()}${isClean ? '\n(nothing to commit, working tree clean)' : ''}`,
          ...(isCut ? { isCut } : {}),
        },
      ]
    },
  }
}
