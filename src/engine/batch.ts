/** Keeps the budget that turns of one batch share, and what each of them has used. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Budget } from '../core/budget.ts'
import type { Clock } from '../core/clock.ts'
import { checkPrices } from './check-budget.ts'
import { modelsNamed } from './check-options.ts'
import { TurnLedger } from './ledger.ts'
import { processBudget } from './memory-budget.ts'
import type { EngineOptions } from './options.ts'
import { currentCall } from './parent.ts'
import type { ParentCall } from './parent.ts'

/** What turns inherit that are made inside. */
export interface Batch {
  readonly ledger: TurnLedger
  readonly budget: Budget
  /** Ends them. */
  readonly signal: AbortSignal
  /** When its time is up, in epoch milliseconds; `Infinity` without a limit. */
  readonly deadline: number
  /** The tool call that the batch was made in. */
  readonly caller: ParentCall | undefined
}

const current = new AsyncLocalStorage<Batch>()

export function beginBatch(
  name: string,
  given: { readonly budget: Budget; readonly signal: AbortSignal; readonly deadline: number; readonly clock: Clock },
): Batch {
  const caller = currentCall()
  const parent = currentBatch(caller)?.ledger ?? caller?.turn.ledger
  return { ...given, caller, ledger: ledgerOf(name, given.budget, given.clock, parent) }
}

/** Runs `work` as a part of the batch; the ledger that is returned tells what the turns of that part have used. */
export function inBatch<T>(
  batch: Batch,
  name: string,
  clock: Clock,
  work: () => T,
): { readonly ledger: TurnLedger; readonly value: T } {
  const ledger = ledgerOf(name, {}, clock, batch.ledger)
  return { ledger, value: current.run({ ...batch, ledger }, work) }
}

/** The batch around this code, unless a turn of it is nearer: what a tool makes belongs to its turn. */
export function currentBatch(caller: ParentCall | undefined): Batch | undefined {
  const batch = current.getStore()
  return batch?.caller === caller ? batch : undefined
}

/** The options of a turn with what it inherits of its batch. @throws ConfigurationError for a model without a known price where the batch limits money. */
export function inheritedOfBatch(options: EngineOptions, batch: Batch | undefined): EngineOptions {
  if (batch === undefined) return options
  checkPrices(batch.budget, modelsNamed(options))
  const { abortSignal } = options
  return { ...options, abortSignal: abortSignal === undefined ? batch.signal : AbortSignal.any([abortSignal, batch.signal]) }
}

function ledgerOf(name: string, budget: Budget, clock: Clock, parent: TurnLedger | undefined): TurnLedger {
  return new TurnLedger({ turnId: name, sessionId: name, clock, budget, store: processBudget, parent, scope: 'batch' })
}
