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
  const kept: Record<string, Json> = {}
  for (const [provider, members] of Object.entries(asObject(metadata) ?? {})) {
    const wanted = Object.entries(asObject(members) ?? {}).filter(([name, value]) => isWanted(name, value))
    if (wanted.length > 0) kept[provider] = Object.fromEntries(wanted)
  }
  return Object.keys(kept).length === 0 ? undefined : { ...kept, [MARK]: { model } }
}

function isWanted(name: string, value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && !NOT_WANTED_BACK.has(name)
}

/** Provider options for a part that goes back; `undefined` when they are of another model. */
export function fromProviderData(data: ProviderData | undefined, model: string): Record<string, JsonObject> | undefined {
  if (data === undefined || !isOf(data, model)) return undefined
  const options: Record<string, JsonObject> = {}
  for (const [provider, members] of Object.entries(data)) {
    const object = asObject(members)
    if (provider !== MARK && object !== undefined) options[provider] = object
  }
  return options
}

/** Data without a mark is of unknown origin and given the benefit of the doubt. */
function isOf(data: ProviderData, model: string): boolean {
  const maker = asObject(data[MARK])?.['model']
  return maker === undefined || maker === model
}

/** Adds what a later report of the same part says. */
export function mergeMetadata(earlier: JsonObject | undefined, later: unknown): JsonObject | undefined {
  const added = asObject(later)
  if (added === undefined) return earlier
  const merged: Record<string, Json | undefined> = { ...earlier }
  for (const [provider, members] of Object.entries(added)) {
    const known = Object.entries(asObject(members) ?? {}).filter(([, value]) => value !== null && value !== undefined)
    merged[provider] = { ...asObject(merged[provider]), ...Object.fromEntries(known) }
  }
  return merged
}
