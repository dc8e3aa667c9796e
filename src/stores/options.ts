/**
 * Checks what stores are given: names of options, a search, documents. JavaScript passes a misspelt `readonly` on, and the store would open for
 * writing.
 */

import { ConfigurationError } from '../core/error.ts'
import { checkFilter } from '../core/filter.ts'
import type { ChunkFilter, DocumentInput, SearchOptions } from '../core/store.ts'
import { describe } from '../util/check.ts'
import { namesOf, unknownOption } from '../util/nearest.ts'

const SEARCH = namesOf<SearchOptions>({ limit: true, filter: true, signal: true })

const DEFAULT_LIMIT = 10

/**
 * @param elsewhere names that are known in another place, and how they are written there.
 * @throws ConfigurationError that names the option that was meant, or those that there are.
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
 * What `extend()` was given. A string, whose letters could be taken for so many documents, is none.
 *
 * @throws ConfigurationError when it is no collection.
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
  /** A whole number; 0 or less asks for nothing. */
  readonly limit: number
  /** `undefined`: all chunks. */
  readonly filter: ChunkFilter | undefined
  /** Is not aborted yet. */
  readonly signal: AbortSignal | undefined
}

/**
 * Checks what the `search` of a store is given, and fills in the default of `limit` (10).
 *
 * @throws ConfigurationError that names what was expected and what came; the reason of the signal when it is aborted.
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
