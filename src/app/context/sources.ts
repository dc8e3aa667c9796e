/** Sources of context out of what is switched on, in the order in which they stand: project, files, git. */

import { ConfigurationError } from '../../core/error.ts'
import type { ContextSource } from '../../core/injection.ts'
import type { ContextBudget, ContextOptions, EngineContextOptions } from '../../engine/options.ts'
import { checkList, checkNames } from '../../engine/checks/values.ts'
import { describe, isRecord } from '../../util/check.ts'
import { homePaths } from '../paths.ts'
import { namesOf } from '../../util/nearest.ts'

/** Tokens at most for each, unless the options say otherwise. */
const DEFAULT_CONTEXT_TOKENS = { project: 8000, recentFiles: 16_000, gitStatus: 2000 } as const

const OPTIONS = namesOf<ContextOptions>({
  project: true,
  recentFiles: true,
  gitStatus: true,
  cwd: true,
  sources: true,
  compaction: true,
  summaryModel: true,
})

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function resolveContext(options: ContextOptions, env: NodeJS.ProcessEnv = process.env): EngineContextOptions {
  checkNames('`context`', options, OPTIONS)
  const { project, recentFiles, gitStatus, cwd: given, sources = [], ...rest } = options
  checkList('context.sources', sources, 'sources')
  const cwd = given ?? process.cwd()
  const budget = (name: keyof typeof DEFAULT_CONTEXT_TOKENS): number => tokensOf(name, options[name])
  const builtIn: ContextSource[] = []
  if (isOn(project)) {
    const paths = homePaths({ env, cwd })
    builtIn.push(
      later({ name: 'project', maxTokens: budget('project'), isStable: true }, async ({ maxTokens }) => {
        const { projectSource } = await import('./project-files.ts')
        return projectSource({ cwd, paths, maxTokens })
      }),
    )
  }
  if (isOn(recentFiles)) {
    builtIn.push(
      later({ name: 'files', maxTokens: budget('recentFiles') }, async ({ maxTokens }) => {
        const { recentFilesSource } = await import('./recent-files.ts')
        return recentFilesSource({ cwd, maxTokens })
      }),
    )
  }
  if (isOn(gitStatus)) {
    builtIn.push(
      later({ name: 'git', maxTokens: budget('gitStatus') }, async ({ maxTokens }) => {
        const { gitStatusSource } = await import('./git-status.ts')
        return gitStatusSource({ cwd, env, maxTokens })
      }),
    )
  }
  return { ...rest, sources: [...builtIn, ...sources] }
}

type SourceFacts = Omit<ContextSource, 'load'>

/** What reads files and runs git is loaded by the first turn that looks around: most never do. */
function later(facts: SourceFacts, make: (facts: SourceFacts) => Promise<ContextSource>): ContextSource {
  return { ...facts, load: async (request) => (await make(facts)).load(request) }
}

function isOn(option: boolean | ContextBudget | undefined): boolean {
  return option !== undefined && option !== false
}

function tokensOf(name: keyof typeof DEFAULT_CONTEXT_TOKENS, option: boolean | ContextBudget | undefined): number {
  if (typeof option === 'boolean' || option === undefined) return DEFAULT_CONTEXT_TOKENS[name]
  if (!isRecord(option))
    throw new ConfigurationError(`\`context.${name}\` must be true, false or { maxTokens }, but is ${describe(option)}.`)
  checkNames(`\`context.${name}\``, option, ['maxTokens'])
  const { maxTokens = DEFAULT_CONTEXT_TOKENS[name] } = option
  if (typeof maxTokens === 'number' && maxTokens >= 0) return maxTokens
  throw new ConfigurationError(
    `\`context.${name}.maxTokens\` must be a number of at least 0, but is ${String(maxTokens)}; \`context.${name}: false\` switches it off.`,
  )
}
