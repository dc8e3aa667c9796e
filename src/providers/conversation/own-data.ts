/**
 * What a provider wants back with a part (signatures, ids of its items), on its way into our parts and out of them again. It is marked with the
 * model that made it: another model, even of the same provider, may refuse it.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import type { ProviderData } from '../../core/part.ts'
import { asObject } from '../wire/json.ts'

const MARK = 'cria'

/** Members that only say something about the answer; the provider does not want them back. */
const NOT_WANTED_BACK = new Set(['annotations', 'logprobs', 'citations', 'usage'])

/** `undefined` when there is nothing that the provider wants back. */
export function toProviderData(metadata: unknown, model: string): ProviderData | undefined {
  const wanted = members(metadata, (name, value) => value !== '' && !NOT_WANTED_BACK.has(name))
  const kept = wanted.filter(([, of]) => Object.keys(of).length > 0)
  return kept.length === 0 ? undefined : { ...Object.fromEntries(kept), [MARK]: { model } }
}

/** Provider options for a part that goes back; `undefined` when they are of another model. Data without a mark is of unknown origin, and goes back. */
export function fromProviderData(data: ProviderData | undefined, model: string): Record<string, JsonObject> | undefined {
  const { [MARK]: mark, ...options } = data ?? {}
  const maker = asObject(mark)?.['model']
  if (data === undefined || (maker !== undefined && maker !== model)) return undefined
  return Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, JsonObject] => asObject(entry[1]) !== undefined),
  )
}

/** Adds what a later report of the same part says. */
export function mergeMetadata(earlier: JsonObject | undefined, later: unknown): JsonObject | undefined {
  if (asObject(later) === undefined) return earlier
  const added = members(later, () => true).map(([provider, of]) => [provider, { ...asObject(earlier?.[provider]), ...of }])
  return Object.assign({}, earlier, Object.fromEntries(added)) as JsonObject
}

/** What each provider says, without what is `null` or not wanted. */
function members(metadata: unknown, wanted: (name: string, value: Json) => boolean): [provider: string, JsonObject][] {
  return Object.entries(asObject(metadata) ?? {}).flatMap(([provider, said]): [string, JsonObject][] => {
    const object = asObject(said)
    if (object === undefined) return []
    const kept = Object.entries(object).filter(([name, value]) => (value ?? null) !== null && wanted(name, value as Json))
    return [[provider, Object.fromEntries(kept)]]
  })
}
