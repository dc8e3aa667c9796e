/**
 * Keys of providers: those of the environment, which leave it before a tool can start another process, and those that the user has put into a
 * file that its owner alone can read.
 */

import { lstatSync, readFileSync } from 'node:fs'
import { ConfigurationError } from '../core/error.ts'
import { PROVIDERS } from '../providers/registry.ts'
import { isRecord } from '../util/check.ts'
import { keepValues, takeVariables } from '../util/environment.ts'
import { nearest } from '../util/nearest.ts'
import type { CriaConfig } from './config-schema.ts'
import { removeHomeFile, whileHomeFileIsLocked, writeHomeFile } from './home-file.ts'
import { reason } from './paths.ts'
import type { HomePaths } from './paths.ts'

/**
 * From now on requests find the keys, and programs that are started do not. What reads `process.env` by itself, such as a model that another
 * package made, does not find them either: give it its key before, or keep the keys with `keepKeys`.
 *
 * @param more names of further variables that hold keys.
 */
export function takeProviderKeys(more: readonly string[] = []): void {
  takeVariables([...Object.values(PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []), ...more])
}

/** Keys by the variable whose place they take. */
export type StoredKeys = Readonly<Record<string, string>>

const MAX_BYTES = 1_000_000

/** @throws ConfigurationError when the file is there and cannot be understood. */
export function storedKeys({ keys: file }: Pick<HomePaths, 'keys'>): StoredKeys {
  let value: unknown
  try {
    const status = lstatSync(file, { throwIfNoEntry: false })
    if (status === undefined) return {}
    if (!status.isFile() || status.size > MAX_BYTES) throw new ConfigurationError(`${file} is not a file of keys.`)
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause
    // What JSON.parse says of a text may quote it.
    const what = cause instanceof SyntaxError ? 'it is not JSON' : reason(cause)
    throw new ConfigurationError(`${file} cannot be read: ${what}.`, {
      hint: 'Remove it, and set the keys again with "cria keys set".',
    })
  }
  if (!isRecord(value)) throw new ConfigurationError(`${file} is not a file of keys.`)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, key]) => (typeof key === 'string' && key !== '' ? [[name, key]] : [])),
  )
}

/** Changes the keys; the file is readable by its owner alone. @throws CriaError `store_failed`; ConfigurationError as `storedKeys`. */
export function changeKeys(paths: HomePaths, change: (keys: StoredKeys) => StoredKeys): void {
  whileHomeFileIsLocked(paths.keys, paths, () => {
    const keys = change(storedKeys(paths))
    if (Object.keys(keys).length === 0) removeHomeFile(paths.keys)
    else writeHomeFile(paths.keys, keys, paths)
  })
}

/** Names of the providers that take a key. */
export function providersWithKeys(): readonly string[] {
  return Object.entries(PROVIDERS).flatMap(([provider, { keyVariable }]) => (keyVariable === undefined ? [] : [provider]))
}

/**
 * The variable that holds the key of a provider, or one that the configuration names for a key.
 *
 * @throws ConfigurationError for any other name.
 */
export function keyVariableOf(name: string, { providers = {} }: CriaConfig): string {
  const own = Object.hasOwn(providers, name) ? providers[name]?.apiKeyEnv : undefined
  const variable = own ?? (Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name]?.keyVariable : undefined)
  if (variable !== undefined) return variable
  const known = keyVariables({ providers })
  if (known.includes(name)) return name
  if (Object.hasOwn(PROVIDERS, name)) throw new ConfigurationError(`${name} needs no key.`)
  const withKeys = providersWithKeys()
  const close = nearest(name, [...withKeys, ...known])
  throw new ConfigurationError(
    `There is no provider ${JSON.stringify(name.slice(0, 60))}.${close === undefined ? '' : ` Did you mean ${close}?`} Keys can be set for ${withKeys.join(', ')}.`,
  )
}

/** All variables that a key is looked for in. */
export function keyVariables({ providers = {} }: CriaConfig): readonly string[] {
  const own = Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? [])
  return [...new Set([...Object.values(PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []), ...own])]
}

/**
 * The environment with the keys of the file, where it has none of its own. No process that is started gets them.
 *
 * @returns the names of those that come from the file, too.
 */
export function withStoredKeys(
  env: Readonly<Record<string, string | undefined>>,
  paths: Pick<HomePaths, 'keys'>,
): { readonly env: Readonly<Record<string, string | undefined>>; readonly stored: readonly string[] } {
  const missing = Object.entries(storedKeys(paths)).filter(([name]) => (env[name] ?? '') === '')
  const keys = Object.fromEntries(missing)
  keepValues(keys)
  return { env: { ...env, ...keys }, stored: Object.keys(keys) }
}
