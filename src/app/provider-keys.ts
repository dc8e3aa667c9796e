/**
 * Manages keys of providers: removes those of the environment before a tool can start another process, and stores keys of the user in a
 * file that only its owner can read.
 */

import { lstatSync, readFileSync } from 'node:fs'
import { ConfigurationError } from '../core/error.ts'
import { PROVIDERS } from '../providers/registry.ts'
import { isRecord } from '../util/check.ts'
import { keepValues, takeVariables } from '../util/environment.ts'
import { nearest } from '../util/nearest.ts'
import type { CriaConfig } from './config-schema.ts'
import { reason, removeHomeFile, whileHomeFileIsLocked, writeHomeFile } from './paths.ts'
import type { HomePaths } from './paths.ts'

/**
 * Moves the keys from `process.env` to a place where requests find them and child processes do not. Code that reads `process.env` itself, such as a
 * model of another package, does not find them either: pass it the key before, or keep the keys with `keepKeys`.
 *
 * @param more names of further variables that hold keys.
 */
export function takeProviderKeys(more: readonly string[] = []): void {
  takeVariables([...keyVariables({}), ...more])
}

/** Keys by the name of the environment variable that they replace. */
export type StoredKeys = Readonly<Record<string, string>>

const MAX_BYTES = 1_000_000

/** @throws ConfigurationError when the file exists and cannot be parsed. */
export function storedKeys({ keys: file }: Pick<HomePaths, 'keys'>): StoredKeys {
  let value: unknown
  try {
    const status = lstatSync(file, { throwIfNoEntry: false })
    if (status === undefined) return {}
    if (!status.isFile() || status.size > MAX_BYTES) throw new ConfigurationError(`${file} is not a file of keys.`)
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause
    // The message of JSON.parse may quote the text, and so a key.
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

/** Changes the stored keys; only their owner can read the file. @throws CriaError `store_failed`; ConfigurationError as `storedKeys`. */
export function changeKeys(paths: HomePaths, change: (keys: StoredKeys) => StoredKeys): void {
  whileHomeFileIsLocked(paths.keys, paths, () => {
    const keys = change(storedKeys(paths))
    if (Object.keys(keys).length === 0) removeHomeFile(paths.keys)
    else writeHomeFile(paths.keys, keys, paths)
  })
}

/** Returns the names of the providers that need a key. */
export function providersWithKeys(): readonly string[] {
  return Object.entries(PROVIDERS).flatMap(([provider, { keyVariable }]) => (keyVariable === undefined ? [] : [provider]))
}

/**
 * Returns the environment variable of a provider's key, or `name` itself where the configuration uses that variable for a key.
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

/** Returns all environment variables that may hold a key. */
export function keyVariables({ providers = {} }: CriaConfig): readonly string[] {
  const own = Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? [])
  return [...new Set([...Object.values(PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []), ...own])]
}

/**
 * Returns the environment with the stored keys added that it lacks. Child processes do not receive them.
 *
 * @returns also `stored`, the names of the variables taken from the file.
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
