/** Capabilities that an adapter claims: suites test those, and name the others in their title. */

import { ConfigurationError } from '../core/error.ts'

/** The functions of a test runner: of vitest, `node:test`, or any other with these two. */
export interface Runner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => void
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => void
}

/**
 * What is not claimed, for the title of a suite; empty where everything is.
 *
 * @throws ConfigurationError for a claim that there is not.
 */
export function unclaimed<Capability extends string>(all: readonly Capability[], claims: readonly Capability[]): string {
  const unknown = claims.find((claim) => !all.includes(claim))
  if (unknown !== undefined)
    throw new ConfigurationError(`There is no capability ${JSON.stringify(unknown)} to claim; there are ${all.join(', ')}.`)
  const missing = all.filter((capability) => !claims.includes(capability))
  return missing.length === 0 ? '' : ` (does not claim ${missing.join(', ')})`
}
