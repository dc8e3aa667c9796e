/** Checks the shape of document filters. The conformance suite of document stores tests their meaning. */

import { ConfigurationError } from './error.ts'
import type { FilterPattern } from './store.ts'

/** Longer than any path. Matching costs the length of the pattern times the length of each text. */
const MAX_PATTERN = 4096

/** @throws ConfigurationError that names the field, the expected and the received value. */
export function checkFilter(filter: unknown): void {
  if (filter === undefined) return
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw new ConfigurationError('A filter must be an object of fields and values, such as { source: { glob: "docs/**" } }.')
  for (const [field, wanted] of Object.entries(filter)) {
    for (const test of Array.isArray(wanted) ? (wanted as unknown[]) : [wanted]) {
      if (isValue(test) || (isPattern(test) && test.glob.length <= MAX_PATTERN)) continue
      throw new ConfigurationError(
        `The filter of ${JSON.stringify(field.slice(0, 60))} must be a text, a number, true, false, null, { glob: "docs/**" } of at most ${MAX_PATTERN} characters, or a list of these.`,
      )
    }
  }
}

export function isPattern(test: unknown): test is FilterPattern {
  return typeof test === 'object' && test !== null && typeof Reflect.get(test, 'glob') === 'string'
}

function isValue(test: unknown): boolean {
  return test === null || typeof test === 'string' || typeof test === 'boolean' || Number.isFinite(test)
}
