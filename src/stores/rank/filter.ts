/** Checks and applies filters, identically in every store. */

import { checkFilter, isPattern } from '../../core/store.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { ChunkFilter, FilterTest } from '../../core/store.ts'
import { globPattern } from '../../util/glob-pattern.ts'
import type { GlobPattern } from '../../util/glob-pattern.ts'

/** The data that a filter is compared with. */
export interface Filtered {
  /** Name of the document in the store. */
  readonly source: string
  /** The title of the document. */
  readonly title?: string
  /** The metadata of the document. */
  readonly metadata: JsonObject
}

/** Reports whether the value of a field is one of those wanted. */
export type FieldTest = (found: Json) => boolean

/**
 * Every field of the filter must equal its value or one of its values, or match its pattern. `source` and `title` are the chunk's own, all others are
 * keys of its metadata. A missing field equals `null`; of a list in the metadata, one element must pass. A pattern that begins with `!` excludes its
 * matches, even if another pattern includes them.
 *
 * @param filter as in `SearchOptions`; default: every chunk passes.
 * @throws ConfigurationError with the field, the expected and the actual value.
 */
export function chunkTest(filter: ChunkFilter = {}): (chunk: Filtered) => boolean {
  checkFilter(filter)
  const tests = Object.entries(filter).map(([field, wanted]) => [field, fieldTest(wanted)] as const)
  return (chunk) => tests.every(([field, passes]) => passes(fieldOf(chunk, field)))
}

export function fieldTest(wanted: FilterTest | readonly FilterTest[]): FieldTest {
  const tests = (Array.isArray(wanted) ? wanted : [wanted]) as readonly FilterTest[]
  const values = new Set<unknown>(tests.filter((test) => !isPattern(test)))
  const patterns = tests.filter(isPattern).map(({ glob }) => globPattern(glob))
  const only = patterns.filter(({ negated }) => !negated)
  const but = patterns.filter(({ negated }) => negated)
  const takesAll = values.size === 0 && only.length === 0 && but.length > 0
  const isAmong = (found: Json): boolean => takesAll || values.has(found) || describes(only, found)
  return (found) => {
    const all: readonly Json[] = Array.isArray(found) ? [found, ...(found as readonly Json[])] : [found]
    return all.some(isAmong) && !all.some((each) => describes(but, each))
  }
}

function describes(patterns: readonly GlobPattern[], found: Json): boolean {
  return typeof found === 'string' && patterns.some(({ matches }) => matches(found.replace(/^\/+/, '')))
}

function fieldOf(chunk: Filtered, field: string): Json {
  if (field === 'source') return chunk.source
  if (field === 'title') return chunk.title ?? null
  return (Object.hasOwn(chunk.metadata, field) ? chunk.metadata[field] : null) ?? null
}
