/**
 * Tests the behaviour that every journal must have. Run it on your own journal:
 *
 *     import { describe, it } from 'vitest'        // or node:test, or any other with these two
 *     recorderSuite('my journal', async () => ({ open: (options) => openMine(options), remove: () => {} }), { describe, it })
 */

import assert from 'node:assert/strict'
import { listTests, searchTests } from './recorder/lists.ts'
import { followTests, lostTurnTests } from './recorder/readers.ts'
import { sessionTests } from './recorder/sessions.ts'
import { turnTests } from './recorder/turns.ts'
import { peopleTests, upkeepTests } from './recorder/upkeep.ts'
import { Bench } from './recorder/bench.ts'
import type { JournalUnderTest, Suite } from './recorder/bench.ts'
import { budgetStoreSuite, cacheStoreSuite } from './shared-store-suites.ts'
import type { BudgetUnderTest, CacheUnderTest } from './shared-store-suites.ts'
import { testsOn, unclaimed } from './claims.ts'
import type { Runner } from './claims.ts'
import { openOf } from './turns.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'

export type { JournalUnderTest } from './recorder/bench.ts'

/**
 * Optional capabilities. `search`: `turns({ search })` finds words. `users`: turns have users and tags, and are listed, counted and deleted by
 * them. `follow`: a turn can be followed while it is written. `upkeep`: statistics and clean-up. `budgets`: has `budget`, `answers`: has `cache`,
 * each shared by all recorders of the journal.
 */
export const RECORDER_CAPABILITIES = ['search', 'users', 'follow', 'upkeep', 'budgets', 'answers'] as const
/** Optional capabilities of a journal. */
export type RecorderCapability = (typeof RECORDER_CAPABILITIES)[number]

/** Options of `recorderSuite()`. */
export interface RecorderSuiteOptions {
  /** Optional capabilities that the journal has; default all. */
  readonly claims?: readonly RecorderCapability[]
}

/** @throws ConfigurationError for an unknown capability. */
export function recorderSuite(
  name: string,
  create: () => MaybePromise<JournalUnderTest>,
  { describe, it }: Runner,
  { claims = RECORDER_CAPABILITIES }: RecorderSuiteOptions = {},
): void {
  const onBench = testsOn(async () => new Bench(await create()), it)
  const suite: Suite = { describe, test: (title, run) => onBench(title, async (bench) => run(await bench.open(), bench)) }
  const claimed = (capability: RecorderCapability, tests: (suite: Suite) => void): void => {
    if (claims.includes(capability)) tests(suite)
  }

  describe(`${name}${unclaimed(RECORDER_CAPABILITIES, claims)}`, () => {
    turnTests(suite)
    sessionTests(suite)
    lostTurnTests(suite)
    listTests(suite)
    claimed('search', searchTests)
    claimed('upkeep', upkeepTests)
    claimed('follow', followTests)
    claimed('users', peopleTests)
    claimed('budgets', () => budgetStoreSuite('budgets', budgetIn(create), { describe, it }, claims.includes('users')))
    claimed('answers', () => cacheStoreSuite('answers', answersIn(create), { describe, it }))
  })
}

function budgetIn(create: () => MaybePromise<JournalUnderTest>): () => Promise<BudgetUnderTest> {
  return async () => {
    const bench = new Bench(await create())
    const recorder = await bench.open()
    assert.ok(recorder.budget !== undefined, 'it has no `budget`')
    return {
      store: recorder.budget,
      turn: (turnId, sessionId, marks) => recorder.openTurn(openOf(turnId, { sessionId, ...marks })),
      close: () => bench.close(),
    }
  }
}

function answersIn(create: () => MaybePromise<JournalUnderTest>): () => Promise<CacheUnderTest> {
  return async () => {
    const bench = new Bench(await create())
    const { cache } = await bench.open()
    assert.ok(cache !== undefined, 'it has no `cache`')
    return { store: cache, close: () => bench.close() }
  }
}
