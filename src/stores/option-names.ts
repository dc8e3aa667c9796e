/** Checks what a store is given: the names of its options, since JavaScript passes a misspelt `readonly` on and the store opens for writing; and documents. */

import { ConfigurationError } from '../core/error.ts'
import { describe } from '../util/check.ts'
import { unknownOption } from '../util/nearest.ts'
import type { DocumentInput } from '../core/store.ts'

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
