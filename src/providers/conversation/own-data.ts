/**
 * Converts between provider metadata (signatures, ids of items) and the `providerData` of our parts, which later requests send back. The data is
 * marked with the model that made it, because another model, even of the same provider, may refuse it.
 */

import type { JsonObject } from '../../core/json.ts'
import type { ProviderData } from '../../core/part.ts'
import { asObject } from '../wire/json.ts'

const MARK = 'cria'

/** Members that only describe the answer, and are not sent back. */
const NOT_WANTED_BACK = new Set(['annotations', 'logprobs', 'citations', 'usage'])

/** Returns `undefined` when the metadata holds nothing to send back. */
export function toProviderData(metadata: unknown, model: string): ProviderData | undefined {
  const wanted = members(metadata, (name, value) => (value ?? '') !== '' && !NOT_WANTED_BACK.has(name))
  const kept = Object.entries(wanted).filter(([, said]) => Object.keys(said).length > 0)
  return kept.length === 0 ? undefined : { ...Object.fromEntries(kept), [MARK]: { model } }
}

/** Returns the provider options of a part that is sent back; `undefined` if another model made them. Data without a mark is sent back. */
export function fromProviderData(data: ProviderData | undefined, model: string): Record<string, JsonObject> | undefined {
  const { [MARK]: mark, ...options } = data ?? {}
  const maker = asObject(mark)?.['model']
  return data === undefined || (maker !== undefined && maker !== model) ? undefined : members(options)
}

/** Merges metadata from a later report of the same part. */
export function mergeMetadata(earlier: JsonObject | undefined, later: unknown): JsonObject | undefined {
  if (asObject(later) === undefined) return earlier
  const added = Object.entries(members(later, (_, value) => (value ?? null) !== null))
  return { ...earlier, ...Object.fromEntries(added.map(([name, said]) => [name, { ...asObject(earlier?.[name]), ...said }])) }
}

/** Returns the object of each provider, reduced to its wanted members. */
function members(metadata: unknown, isWanted = (_name: string, _value: unknown): boolean => true): Record<string, JsonObject> {
  const objects = Object.entries(asObject(metadata) ?? {}).flatMap(([provider, said]) => {
    const object = asObject(said)
    return object === undefined
      ? []
      : [[provider, Object.fromEntries(Object.entries(object).filter(([name, value]) => isWanted(name, value)))]]
  })
  return Object.fromEntries(objects) as Record<string, JsonObject>
}
