/** What a caller has to say to one provider alone. */

import type { JsonObject } from '../core/json.ts'
import type { ProviderDefinition } from './registry.ts'
import { asObject } from './wire/json.ts'

/** The members of `providerOptions` that are for this provider, under any of its names; those of its own name win. */
export function optionsOf(given: JsonObject | undefined, provider: string, { optionNames = [] }: ProviderDefinition): JsonObject {
  return Object.assign({}, ...[...optionNames, provider].map((name) => asObject(given?.[name]))) as JsonObject
}
