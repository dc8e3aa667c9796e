/** Git settings that override every configuration file, passed in the environment. */

export type GitSettings = readonly (readonly [key: string, value: string])[]

/** Disables programs that the configuration of a repository could make git run. */
export const HARMLESS_GIT: GitSettings = [
  ['core.fsmonitor', 'false'],
  ['core.virtualFilesystem', ''],
  ['core.hooksPath', '/dev/null'],
  // Ignores bare repositories that are embedded in a work tree.
  ['safe.bareRepository', 'explicit'],
]

/** Returns the variables that pass the settings to git. Their numbers must have no gap, or every git command fails. */
export function gitVariables(settings: GitSettings): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ])
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) }
}
