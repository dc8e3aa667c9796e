/** Reads the user's `config.json` and, where it is trusted, the project's. */

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
import { readSmallFile, whileHomeFileIsLocked } from './home-file.ts'
import { homePaths } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import { findProjectConfig, trustState } from './trust.ts'
import type { ProjectConfig, TrustState } from './trust.ts'

export interface LoadedConfig {
  /** The user's configuration, with the project's on top where that is trusted. */
  readonly config: CriaConfig
  /** The files it was read from. */
  readonly files: readonly string[]
  readonly paths: HomePaths
  /** The project's configuration file, whether it counts or not. */
  readonly project: (ProjectConfig & { readonly trust: TrustState }) | undefined
  /** What the user should be told, on standard error. */
  readonly notes: readonly string[]
}

/**
 * @throws ConfigurationError when a file that counts cannot be read, is no JSON, or has wrong keys or values.
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
    notes.push(`The configuration ${found.file} ${why}; look at it, then run "cria trust" to let it count.`)
  }
  return { config, files, paths, project: { ...found, trust }, notes }
}

/** What comes with a folder and cannot be read stops nobody from working there: nobody has trusted it. */
function projectConfig({ cwd }: Surroundings, paths: HomePaths, notes: string[]): ProjectConfig | undefined {
  try {
    return findProjectConfig(cwd, paths)
  } catch (thrown) {
    if (!(thrown instanceof ConfigurationError)) throw thrown
    notes.push(`${thrown.message} It is not used.`)
    return undefined
  }
}

/** What a project's file says, whether it counts or not. @throws ConfigurationError as `parseConfig`. */
export function readProjectConfig(project: ProjectConfig): CriaConfig {
  return withAbsolutePaths(parseConfig(project.content, project.file), project.folder)
}

/** @throws ConfigurationError naming the file, and for every mistake its place, what was expected and what was received. */
export function parseConfig(content: string, file: string): CriaConfig {
  let value: unknown
  try {
    value = JSON.parse(content.startsWith('\uFEFF') ? content.slice(1) : content)
  } catch (cause) {
    throw new ConfigurationError(`${file} is no JSON: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
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
 * Changes the user's own `config.json`: what it holds beside stays, in order.
 *
 * @throws ConfigurationError when it cannot be read, or would be wrong after the change; CriaError `store_failed` when it cannot be written.
 */
export function changeConfig(paths: HomePaths, change: (config: Record<string, unknown>) => void): void {
  whileHomeFileIsLocked(paths.config, paths, () => {
    const before = readIfThere(paths.config) ?? '{}'
    parseConfig(before, paths.config)
    const config = JSON.parse(before.replace(/^\uFEFF/, '')) as Record<string, unknown>
    change(config)
    const after = `${JSON.stringify(config, undefined, 2)}\n`
    parseConfig(after, paths.config)
    // Where it is a link, what it leads to is replaced.
    writeFileAtomically(existsSync(paths.config) ? realpathSync(paths.config) : paths.config, after)
  })
}

function describeProblems(problems: readonly Problem[]): string {
  const shown = problems
    .slice(0, 20)
    .map(({ path, expected, received }) => `  ${path || 'the file'}: expected ${expected}, received ${received}`)
  if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`)
  return shown.join('\n')
}

/** Joins two configurations: objects key by key, rules and hooks one list after the other, everything else is replaced by what `over` says. */
export function mergeConfig(base: CriaConfig, over: CriaConfig): CriaConfig {
  const merged = mergeObjects(base, over)
  return {
    ...merged,
    // A server is replaced as a whole: the arguments of one must not come to the keys of another.
    ...(over.mcpServers === undefined ? {} : { mcpServers: { ...base.mcpServers, ...over.mcpServers } }),
    // A project may add rules and hooks; those of its user come first and stay.
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
 * Makes paths absolute: they are relative to the folder of the configuration, wherever the command is run. Programs are started in that folder
 * too: what is looked for from there, such as a program that `npx` runs, would come out of whatever folder somebody works in.
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
    // What is in the way is told by reading.
  }
  return readSmallFile(file, 'configuration')
}
