/**
 * What every journal has to do, whatever it is kept in. Run it on your own:
 *
 *     import { describe, it } from 'vitest'        // or node:test, or any other with these two
 *     recorderSuite('my journal', async () => ({ open: (options) => openMine(options), remove: () => {} }), { describe, it })
 */

import { followTests } from './recorder/follow.ts'
import { lostTurnTests } from './recorder/lost-turns.ts'
import { listTests } from './recorder/lists.ts'
import { peopleTests } from './recorder/people.ts'
import { sessionTests } from './recorder/sessions.ts'
import { turnTests } from './recorder/turns.ts'
import { upkeepTests } from './recorder/upkeep.ts'
import { Bench } from './recorder/bench.ts'
import type { JournalUnderTest, Suite } from './recorder/bench.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'

export type { JournalUnderTest } from './recorder/bench.ts'

/** What defines tests: `describe` and `it` of node:test, Vitest or Jest. */
export interface Runner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => void
  /** Defines a test. */
  readonly it: (name: string, run: () => Promise<void>) => void
}

/** Defines tests that every recorder has to pass: order, leases, history, search, budgets. */
export function recorderSuite(name: string, create: () => MaybePromise<JournalUnderTest>, { describe, it }: Runner): void {
  /** All recorders share one clock. */
  const test: Suite['test'] = (title, run) => {
    it(title, async () => {
      const journal = await create()
      const bench = new Bench(journal)
      try {
        await run(bench)
      } finally {
        for (const recorder of bench.recorders) await recorder.close()
        await journal.remove()
      }
    })
  }
  const suite: Suite = { describe, test }

  describe(name, () => {
    turnTests(suite)
    sessionTests(suite)
    lostTurnTests(suite)
    listTests(suite)
    upkeepTests(suite)
    followTests(suite)
    peopleTests(suite)
  })
}
