/** Sources of context out of what is switched on, in the order in which they stand: project, files, git. */

import { ConfigurationError } from '../../core/error.ts'
import type { ContextSource } from '../../core/injection.ts'
import type { ContextBudget, ContextOptions, EngineContextOptions } from '../../engine/context-options.ts'
import { homePaths } from '../paths.ts'
import { gitStatusSource } from './git-status.ts'
import { projectSource } from './project-files.ts'
import { recentFilesSource } from './recent-files.ts'

/** Tokens at most for each, unless the options say otherwise. */
export const DEFAULT_CONTEXT_TOKENS = { project: 8000, recentFiles: 16_000, gitStatus: 2000 } as const

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function resolveContext(options: ContextOptions, env: NodeJS.ProcessEnv = process.env): EngineContextOptions {
  const { project, recentFiles, gitStatus, cwd: given, sources = [], ...rest } = options
  const cwd = given ?? process.cwd()
  const budget = (name: keyof typeof DEFAULT_CONTEXT_TOKENS): number => tokensOf(name, options[name])
  const builtIn: readonly (ContextSource | false)[] = [
    isOn(project) && projectSource({ cwd, paths: homePaths({ env, cwd }), maxTokens: budget('project') }),
    isOn(recentFiles) && recentFilesSource({ cwd, maxTokens: budget('recentFiles') }),
    isOn(gitStatus) && gitStatusSource({ cwd, env, maxTokens: budget('gitStatus') }),
  ]
  return { ...rest, sources: [...builtIn.filter((source) => source !== false), ...sources] }
}

function isOn(option: boolean | ContextBudget | undefined): boolean {
  return option !== undefined && option !== false
}

function tokensOf(name: keyof typeof DEFAULT_CONTEXT_TOKENS, option: boolean | ContextBudget | undefined): number {
  if (typeof option === 'boolean' || option === undefined) return DEFAULT_CONTEXT_TOKENS[name]
  const { maxTokens = DEFAULT_CONTEXT_TOKENS[name] } = option
  if (typeof maxTokens === 'number' && maxTokens >= 0) return maxTokens
  throw new ConfigurationError(
    `\`context.${name}.maxTokens\` must be a number of at least 0, but is ${String(maxTokens)}; \`context.${name}: false\` switches it off.`,
  )
}
