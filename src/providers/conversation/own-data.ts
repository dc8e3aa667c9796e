/**
 * Carries what a provider wants back with a part (signatures, ids of its items) into our parts and out of them again. It is marked with the
 * model that made it: another model, even of the same provider, may refuse it.
 */

import type { JsonObject } from '../../core/json.ts'
import type { ProviderData } from '../../core/part.ts'
import { asObject } from '../wire/json.ts'

const MARK = 'cria'

/** Members that only say something about the answer; the provider does not want them back. */
const NOT_WANTED_BACK = new Set(['annotations', 'logprobs', 'citations', 'usage'])

/** `undefined` when there is nothing that the provider wants back. */
export function toProviderData(metadata: unknown, model: string): ProviderData | undefined {
  const wanted = members(metadata, (name, value) => (value ?? '') !== '' && !NOT_WANTED_BACK.has(name))
  const kept = Object.entries(wanted).filter(([, said]) => Object.keys(said).length > 0)
  return kept.length === 0 ? undefined : { ...Object.fromEntries(kept), [MARK]: { model } }
}

/** Provider options for a part that goes back; `undefined` when they are of another model. Data without a mark is of unknown origin, and goes back. */
export function fromProviderData(data: ProviderData | undefined, model: string): Record<string, JsonObject> | undefined {
  const { [MARK]: mark, ...options } = data ?? {}
  const maker = asObject(mark)?.['model']
  return data === undefined || (maker !== undefined && maker !== model) ? undefined : members(options)
}

/** Adds what a later report of the same part says. */
export function mergeMetadata(earlier: JsonObject | undefined, later: unknown): JsonObject | undefined {
  if (asObject(later) === undefined) return earlier
  const added = Object.entries(members(later, (_, value) => (value ?? null) !== null))
  return { ...earlier, ...Object.fromEntries(added.map(([name, said]) => [name, { ...asObject(earlier?.[name]), ...said }])) }
}

/** The objects of the providers, each with the members that are wanted. */
function members(metadata: unknown, isWanted = (_name: string, _value: unknown): boolean => true): Record<string, JsonObject> {
  const objects = Object.entries(asObject(metadata) ?? {}).flatMap(([provider, said]) => {
    const object = asObject(said)
    return object === undefined
      ? []
      : [[provider, Object.fromEntries(Object.entries(object).filter(([name, value]) => isWanted(name, value)))]]
  })
  return Object.fromEntries(objects) as Record<string, JsonObject>
}
