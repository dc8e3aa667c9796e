import { ConfigurationError } from '../core/error.ts'
import type { DocumentInput } from '../core/store.ts'
import { describe } from '../util/check.ts'

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
