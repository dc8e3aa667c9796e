/** Reads the user's `config.json` and, if it is trusted, that of the project. */

import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigurationError } from '../core/error.ts'
import { HOOK_NAMES } from '../core/hook.ts'
import { LISTS } from '../tools/permissions/rule.ts'
import { isRecord } from '../util/check.ts'
import type { Problem } from '../util/check.ts'
import { writeFileAtomically } from '../util/files.ts'
import { CONFIG_SHAPE } from './config-schema.ts'
import type { CriaConfig, StoreConfig } from './config-schema.ts'
import { homePaths, readSmallFile, whileHomeFileIsLocked } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import { findProjectConfig, trustState } from './trust.ts'
import type { ProjectConfig, TrustState } from './trust.ts'

export interface LoadedConfig {
  /** The user's configuration, overlaid with the project's if that is trusted. */
  readonly config: CriaConfig
  /** The files that were read. */
  readonly files: readonly string[]
  readonly paths: HomePaths
  /** The project's configuration file, trusted or not. */
  readonly project: (ProjectConfig & { readonly trust: TrustState }) | undefined
  /** Notes for the user, printed to standard error. */
  readonly notes: readonly string[]
}

/**
 * @throws ConfigurationError when a file that counts cannot be read, is not JSON, or has wrong keys or values.
 */
export function loadConfig(surroundings: Surroundings): LoadedConfig {
  const paths = homePaths(surroundings)
  const files: string[] = []
  const notes: string[] = []

  let config: CriaConfig = {}
  const own = readIfThere(paths.config)
  if (own !== undefined) {
    config = withAbsolutePaths(parseConfig(own, paths.config), dirname(paths.config))
    files.push(paths.config)
  }

  const found = projectConfig(surroundings, paths, notes)
  if (found === undefined) return { config, files, paths, project: undefined, notes }

  const trust = trustState(found, paths)
  if (trust === 'trusted') {
    config = mergeConfig(config, readProjectConfig(found))
    files.push(found.file)
  } else {
    const why = trust === 'changed' ? 'has changed since you trusted it and is not used' : 'is not used'
    notes.push(`The configuration ${found.file} ${why}; look at it, then run "cria trust" to use it.`)
  }
  return { config, files, paths, project: { ...found, trust }, notes }
}

/** Returns `undefined`, with a note, for a file that cannot be read: an untrusted file must not prevent work in its folder. */
function projectConfig({ cwd }: Surroundings, paths: HomePaths, notes: string[]): ProjectConfig | undefined {
  try {
    return findProjectConfig(cwd, paths)
  } catch (thrown) {
    if (!(thrown instanceof ConfigurationError)) throw thrown
    notes.push(`${thrown.message} It is not used.`)
    return undefined
  }
}

/** Parses a project's configuration, trusted or not. @throws ConfigurationError as `parseConfig`. */
export function readProjectConfig(project: ProjectConfig): CriaConfig {
  return withAbsolutePaths(parseConfig(project.content, project.file), project.folder)
}

/** @throws ConfigurationError that names the file and, the place and the kind of each mistake. */
export function parseConfig(content: string, file: string): CriaConfig {
  let value: unknown
  try {
    value = JSON.parse(content.startsWith('\uFEFF') ? content.slice(1) : content)
  } catch (cause) {
    throw new ConfigurationError(`${file} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
  }
  const problems: Problem[] = []
  const config = CONFIG_SHAPE.read(value, '', problems)
  if (config === undefined || problems.length > 0) {
    throw new ConfigurationError(
      `${file} has ${problems.length === 1 ? 'a mistake' : `${problems.length} mistakes`}:\n${describeProblems(problems)}`,
      {
        hint: 'docs/configuration.md lists all keys.',
      },
    )
  }
  return config
}

/**
 * Changes the user's own `config.json`; keeps all other keys and their order.
 *
 * @throws ConfigurationError when the file cannot be read, or the change would make it invalid; CriaError `store_failed` when it cannot be written.
 */
export function changeConfig(paths: HomePaths, change: (config: Record<string, unknown>) => void): void {
  whileHomeFileIsLocked(paths.config, paths, () => {
    const before = readIfThere(paths.config) ?? '{}'
    parseConfig(before, paths.config)
    const config = JSON.parse(before.replace(/^\uFEFF/, '')) as Record<string, unknown>
    change(config)
    const after = `${JSON.stringify(config, undefined, 2)}\n`
    parseConfig(after, paths.config)
    // A symbolic link stays; its target is replaced.
    writeFileAtomically(existsSync(paths.config) ? realpathSync(paths.config) : paths.config, after)
  })
}

function describeProblems(problems: readonly Problem[]): string {
  const shown = problems.slice(0, 20).map(({ path, message }) => `  ${path || 'the file'}: ${message}`)
  if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`)
  return shown.join('\n')
}

/** Merges two configurations: objects key by key, rules and hooks by appending; any other value of `over` replaces that of `base`. */
export function mergeConfig(base: CriaConfig, over: CriaConfig): CriaConfig {
  const merged = mergeObjects(base, over)
  return {
    ...merged,
    // A server is replaced as a whole: the arguments of one configuration must not be combined with the keys of the other.
    ...(over.mcpServers === undefined ? {} : { mcpServers: { ...base.mcpServers, ...over.mcpServers } }),
    // A project may add rules and hooks; those of the user come first and remain.
    ...(over.hooks === undefined ? {} : { hooks: joinedLists(HOOK_NAMES, base.hooks, over.hooks) }),
    ...(over.rules === undefined ? {} : { rules: joinedLists(LISTS, base.rules, over.rules) }),
    ...(base.sandbox?.mode === 'required' ? { sandbox: { ...merged.sandbox, mode: 'required' } } : {}),
  }
}

function joinedLists<Name extends string, Item>(
  names: readonly Name[],
  base: { readonly [Key in Name]?: readonly Item[] } = {},
  over: { readonly [Key in Name]?: readonly Item[] },
): { readonly [Key in Name]?: readonly Item[] } {
  const lists = names.map((name) => [name, [...(base[name] ?? []), ...(over[name] ?? [])]] as const)
  return Object.fromEntries(lists.filter(([, items]) => items.length > 0)) as { [Key in Name]?: readonly Item[] }
}

function mergeObjects<T extends object>(base: T, over: T): T {
  const merged: Record<string, unknown> = { ...(base as Record<string, unknown>) }
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key]
    merged[key] = isRecord(before) && isRecord(value) ? mergeObjects(before, value) : value
  }
  return merged as T
}

/**
 * Makes paths absolute, relative to the folder of the configuration. Programs also start in that folder: otherwise a program found by a relative
 * lookup, as by `npx`, would come from whatever folder is current.
 */
function withAbsolutePaths({ stores, mcpServers, hooks, ...rest }: CriaConfig, folder: string): CriaConfig {
  const startedIn = <T extends { readonly cwd?: string }>(program: T): T => ({
    ...program,
    cwd: resolve(folder, program.cwd ?? '.'),
  })
  const absolute = ({ paths, ...store }: StoreConfig): StoreConfig =>
    paths === undefined ? store : { ...store, paths: paths.map((path) => resolve(folder, path)) }
  return {
    ...rest,
    ...(stores === undefined ? {} : { stores: mapped(stores, absolute) }),
    ...(mcpServers === undefined
      ? {}
      : { mcpServers: mapped(mcpServers, (server) => (server.command === undefined ? server : startedIn(server))) }),
    ...(hooks === undefined ? {} : { hooks: mapped(hooks, (commands) => commands.map(startedIn)) }),
  }
}

function mapped<T>(object: { readonly [name: string]: T }, change: (value: T) => T): { readonly [name: string]: T } {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}

function readIfThere(file: string): string | undefined {
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined
  } catch {
    // Reading it later reports the problem.
  }
  return readSmallFile(file, 'configuration')
}
