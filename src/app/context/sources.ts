/** Resolves the options of `context` to context sources, in their order in the request: project, files, git. */

import { ConfigurationError } from '../../core/error.ts'
import type { ContextSource } from '../../core/injection.ts'
import type { ContextOptions, EngineContextOptions } from '../../engine/options.ts'
import { checkList, checkNames } from '../../engine/checks/values.ts'
import { describe, isRecord } from '../../util/check.ts'
import { namesOf } from '../../util/nearest.ts'

type BuiltIn = 'project' | 'recentFiles' | 'gitStatus'

/** `maxTokens` are defaults that the options override. */
const BUILT_IN: Readonly<Record<BuiltIn, Omit<ContextSource, 'load'>>> = {
  project: { name: 'project', maxTokens: 8000, isStable: true },
  recentFiles: { name: 'files', maxTokens: 16_000 },
  gitStatus: { name: 'git', maxTokens: 2000 },
}

const OPTIONS = namesOf<ContextOptions>({
  project: true,
  recentFiles: true,
  gitStatus: true,
  cwd: true,
  sources: true,
  compaction: true,
  summaryModel: true,
})

/** @throws ConfigurationError that names the option, the expected and the received value. */
export function resolveContext(options: ContextOptions, env: NodeJS.ProcessEnv = process.env): EngineContextOptions {
  checkNames('`context`', options, OPTIONS)
  const { project, recentFiles, gitStatus, cwd = process.cwd(), sources = [], ...rest } = options
  checkList('context.sources', sources, 'sources')
  const builtIn = Object.entries({ project, recentFiles, gitStatus }).flatMap(([key, option]): ContextSource[] => {
    if (option === undefined || option === false) return []
    const name = key as BuiltIn
    return [
      {
        ...BUILT_IN[name],
        maxTokens: tokensOf(name, option),
        // The code that reads files and runs git is loaded by the first turn that uses it: most processes never do.
        load: async (request) => (await import('./built-in.ts')).LOADERS[name](request, { cwd, env }),
      },
    ]
  })
  return { ...rest, sources: [...builtIn, ...sources] }
}

function tokensOf(name: BuiltIn, option: NonNullable<ContextOptions[BuiltIn]>): number {
  const usual = BUILT_IN[name].maxTokens
  if (typeof option === 'boolean') return usual
  if (!isRecord(option))
    throw new ConfigurationError(`\`context.${name}\` must be true, false or { maxTokens }, but is ${describe(option)}.`)
  checkNames(`\`context.${name}\``, option, ['maxTokens'])
  const { maxTokens = usual } = option
  if (typeof maxTokens === 'number' && maxTokens >= 0) return maxTokens
  throw new ConfigurationError(
    `\`context.${name}.maxTokens\` must be a number of at least 0, but is ${String(maxTokens)}; \`context.${name}: false\` switches it off.`,
  )
}
