/** Takes the keys of providers out of the environment of the process, before a tool can start another one. */

import { PROVIDERS } from '../providers/registry.ts'
import { takeVariables } from '../util/environment.ts'

/**
 * From now on requests find the keys, and programs that are started do not. What reads `process.env` by itself, such as a model that another
 * package made, does not find them either: give it its key before, or keep the keys with `keepKeys`.
 *
 * @param more names of further variables that hold keys.
 */
export function takeProviderKeys(more: readonly string[] = []): void {
  takeVariables([...Object.values(PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []), ...more])
}
