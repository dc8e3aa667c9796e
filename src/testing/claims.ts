/** What suites share: the test runner, tests with something to close, and the capabilities that an adapter claims. */

import { ConfigurationError } from '../core/error.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'

/** The functions of a test runner: of vitest, `node:test`, or any other with these two. */
export interface Runner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => void
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => void
}

/** Defines tests that each get a bench of their own, which is closed after them. */
export function testsOn<Bench extends { close(): MaybePromise<void> }>(
  create: () => MaybePromise<Bench>,
  it: Runner['it'],
): (title: string, run: (bench: Bench) => Promise<void>) => void {
  return (title, run) => {
    it(title, async () => {
      const bench = await create()
      try {
        await run(bench)
      } finally {
        await bench.close()
      }
    })
  }
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
