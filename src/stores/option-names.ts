/** JavaScript passes a misspelt name on without a word: a `readonly` would open a store for writing. */

import { ConfigurationError } from '../core/error.ts'
import { describe } from '../util/check.ts'
import { unknownOption } from '../util/nearest.ts'

/**
 * @param elsewhere names that are known in another place, and how they are written there.
 * @throws ConfigurationError that names the option that was meant, or those that there are.
 */
export function checkOptionNames(
  what: string,
  options: object,
  names: readonly string[],
  elsewhere?: Readonly<Record<string, string>>,
): void {
  if (typeof options !== 'object' || options === null)
    throw new ConfigurationError(`${what} takes an object of options, but got ${describe(options)}.`)
  const wrong = unknownOption(options, names, elsewhere)
  if (wrong !== undefined) throw new ConfigurationError(`${what} has ${wrong.problem}`, wrong)
}
