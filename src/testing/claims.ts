/** Shared by the suites: the test runner, tests that close their fixture, and the capabilities that an adapter claims. */

import { ConfigurationError } from '../core/error.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'

/** The functions of a test runner: of vitest, `node:test`, or any other with these two. */
export interface Runner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => void
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => void
}

/** Returns a function that defines tests, each with a bench of its own, which is closed after the test. */
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
 * Returns the part of a suite's title that names unclaimed capabilities; empty where all are claimed.
 *
 * @throws ConfigurationError for an unknown capability.
 */
export function unclaimed<Capability extends string>(all: readonly Capability[], claims: readonly Capability[]): string {
  const unknown = claims.find((claim) => !all.includes(claim))
  if (unknown !== undefined)
    throw new ConfigurationError(`There is no capability ${JSON.stringify(unknown)} to claim; there are ${all.join(', ')}.`)
  const missing = all.filter((capability) => !claims.includes(capability))
  return missing.length === 0 ? '' : ` (does not claim ${missing.join(', ')})`
}
