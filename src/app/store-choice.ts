/** Chooses the store: by name, by the paths it was made of, or the default. */

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { EmbeddingModel } from '../core/embedding.ts'
import { ConfigurationError } from '../core/error.ts'
import { sha256 } from '../util/hash.ts'
import { nearest } from '../util/nearest.ts'
import type { CriaConfig } from './config-schema.ts'
import { homeNames } from './home-file.ts'
import { reason, STORE_NAME, storePath } from './paths.ts'
import type { HomePaths } from './paths.ts'

export interface StoreChoice {
  readonly name: string
  /** The file. */
  readonly path: string
  /** Real paths of the documents that this store is kept for, where it is kept for some. */
  readonly documents: readonly string[] | undefined
  /** There is a file already. */
  readonly exists: boolean
  /** Gives the model that made the vectors of the store, where it holds some. */
  readonly embeddingModel?: (held: string) => EmbeddingModel
}

export interface StoreOptions {
  readonly store?: string | undefined
  readonly docs?: readonly string[] | undefined
}

const DEFAULT_STORE = 'default'

/**
 * @throws ConfigurationError when both are given, when a path does not exist, or when the name cannot be that of a store.
 */
export function chooseStore(options: StoreOptions, config: CriaConfig, paths: HomePaths, cwd: string): StoreChoice {
  const { store, docs = [] } = options
  if (store !== undefined && docs.length > 0) {
    throw new ConfigurationError('--store and --docs exclude each other: --docs has a store of its own for its paths.')
  }
  if (docs.length > 0) return storeForDocuments(realPaths(docs, cwd), paths)
  return named(store ?? config.store ?? DEFAULT_STORE, paths)
}

/** The same set of paths, in any order and however it is written, has the same store. */
function storeForDocuments(documents: readonly string[], paths: HomePaths): StoreChoice {
  return { ...named(`docs-${sha256(JSON.stringify(documents)).slice(0, 16)}`, paths), documents }
}

/** Real paths, sorted, each once. @throws ConfigurationError that names the first path that does not exist. */
export function realPaths(given: readonly string[], cwd: string): readonly string[] {
  const real = given.map((path) => {
    if (path.includes('\0')) throw new ConfigurationError(`A path cannot hold a NUL byte: ${JSON.stringify(path)}.`)
    try {
      return realpathSync(resolve(cwd, path))
    } catch (cause) {
      const why =
        cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
          ? 'does not exist'
          : `cannot be read: ${reason(cause)}`
      throw new ConfigurationError(`The path ${path} ${why}.`, { cause })
    }
  })
  return [...new Set(real)].toSorted()
}

/**
 * Names of the stores of this home, sorted.
 *
 * @param options.derived also those that are kept for the paths of `--docs`; default false.
 */
export function storeNames(paths: HomePaths, { derived = false }: { readonly derived?: boolean } = {}): readonly string[] {
  return homeNames(paths.stores, '.db').filter((name) => STORE_NAME.test(name) && (derived || !/^docs-[0-9a-f]{16}$/.test(name)))
}

/** @throws ConfigurationError that names the stores there are, when this one is not among them. */
export function requireStore(choice: StoreChoice, paths: HomePaths): void {
  if (choice.exists) return
  const names = storeNames(paths)
  const close = nearest(choice.name, names)
  const others = names.length === 0 ? 'There are none yet.' : `There are: ${names.join(', ')}.`
  throw new ConfigurationError(
    `There is no store ${JSON.stringify(choice.name)}.${close === undefined ? '' : ` Did you mean ${JSON.stringify(close)}?`} ${others}`,
    { hint: `Make it with: cria index <path…> --store ${choice.name}` },
  )
}

function named(name: string, paths: HomePaths): StoreChoice {
  const path = storePath(paths, name)
  return { name, path, documents: undefined, exists: existsSync(path) }
}
