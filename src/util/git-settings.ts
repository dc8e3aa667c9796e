/** Settings of git that win over every file, handed over in the environment. */

export type GitSettings = readonly (readonly [key: string, value: string])[]

/** What a repository must not bring, whoever runs git in it: the programs that its own configuration could name. */
export const HARMLESS_GIT: GitSettings = [
  ['core.fsmonitor', 'false'],
  ['core.virtualFilesystem', ''],
  ['core.hooksPath', '/dev/null'],
  // Files that look like a repository without being called one make none.
  ['safe.bareRepository', 'explicit'],
]

/** The variables that carry the settings; git counts them, and one that is missing would make every command fail. */
export function gitVariables(settings: GitSettings): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) }
}
