/**
 * Checks arguments of stores: option names, searches, documents. In JavaScript a misspelt `readonly` would pass unnoticed, and the store would be
 * opened for writing.
 */

import { ConfigurationError } from '../core/error.ts'
import { checkFilter } from '../core/store.ts'
import type { ChunkFilter, DocumentInput, SearchOptions } from '../core/store.ts'
import { describe } from '../util/check.ts'
import { namesOf, unknownOption } from '../util/nearest.ts'

const SEARCH = namesOf<SearchOptions>({ limit: true, filter: true, signal: true })

const DEFAULT_LIMIT = 10

/**
 * @param elsewhere names known from other libraries, and their names here.
 * @throws ConfigurationError that suggests the intended option, or lists all options.
 */
export function checkOptionNames(
  what: string,
  options: object,
  names: readonly string[],
  elsewhere?: Readonly<Record<string, string>>,
): void {
  if (typeof options !== 'object' || options === null)
    throw new ConfigurationError(`${what} takes an object of options, but got ${describe(options)}.`)
  const wrong = unknownOption(options, names, elsewhere)
  if (wrong !== undefined) throw new ConfigurationError(`${what} has ${wrong.problem}`, wrong)
}

/**
 * Returns the argument of `extend()`. A string is rejected: iterating it would add one document per letter.
 *
 * @throws ConfigurationError when it is not a collection.
 */
export function givenDocuments(documents: unknown): Iterable<DocumentInput> | AsyncIterable<DocumentInput> {
  if (typeof documents === 'object' && documents !== null && (Symbol.iterator in documents || Symbol.asyncIterator in documents))
    return documents as Iterable<DocumentInput>
  throw new ConfigurationError(
    `extend() takes a list of documents, or what loadDocuments() resolves to, but got ${describe(documents)}; append() takes a single one.`,
  )
}

/** The checked arguments of a search. */
export interface CheckedSearch {
  /** A whole number; the search returns nothing for 0 or less. */
  readonly limit: number
  /** `undefined`: all chunks. */
  readonly filter: ChunkFilter | undefined
  /** Not aborted yet. */
  readonly signal: AbortSignal | undefined
}

/**
 * Checks the arguments of a store's `search`, and fills in the default of `limit` (10).
 *
 * @throws ConfigurationError with the expected and the actual value; the reason of the signal when it is aborted.
 */
export function checkedSearch(query: string, options: SearchOptions = {}): CheckedSearch {
  checkOptionNames('search()', options, SEARCH, { k: 'limit', n: 'limit', nResults: 'limit', topK: 'limit' })
  const { limit = DEFAULT_LIMIT, filter, signal } = options
  if (typeof query !== 'string') throw new ConfigurationError(`A query must be a string, but is ${typeof query}.`)
  if (Number.isNaN(limit) || typeof limit !== 'number') {
    throw new ConfigurationError(`The number of results must be a number, but is ${String(limit)}.`)
  }
  checkFilter(filter)
  signal?.throwIfAborted()
  return { limit: Math.floor(limit), filter, signal }
}
