/** What a filter means, the same in every store. */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ChunkFilter, FilterValue } from '../../core/store.ts'

export interface Filtered {
  readonly source: string
  readonly title?: string
  readonly metadata: JsonObject
}

/**
 * Every field of the filter must equal its value, or one of its values. `source` and `title` are the chunk's own, all others are keys of
 * its metadata. A field that is not there equals `null`; where the metadata has a list, one of its elements must be equal.
 */
export function matchesFilter(chunk: Filtered, filter: ChunkFilter): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const found = fieldOf(chunk, field)
    const values: readonly FilterValue[] = Array.isArray(wanted) ? wanted : [wanted as FilterValue]
    return values.some((value) => found === value || (Array.isArray(found) && found.includes(value)))
  })
}

function fieldOf(chunk: Filtered, field: string): Json {
  if (field === 'source') return chunk.source
  if (field === 'title') return chunk.title ?? null
  return (Object.hasOwn(chunk.metadata, field) ? chunk.metadata[field] : null) ?? null
}
