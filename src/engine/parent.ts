/**
 * Nests turns: a turn inherits signal, budget, permission, recorder and span from the turn whose tool starts it, or from its batch. Its events
 * are shown to the reader of that turn, too.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Budget } from '../core/budget.ts'
import type { Clock } from '../core/clock.ts'
import { CriaError } from '../core/error.ts'
import type { CallRef, QueryEvent, QueryResult } from '../core/event.ts'
import type { Recorder } from '../core/recorder.ts'
import type { CallFrame } from '../tools/call.ts'
import type { ToolsState } from '../tools/state.ts'
import { defined } from '../util/check.ts'
import { checkPrices } from './budget/plan.ts'
import { modelsNamed } from './checks/options.ts'
import { TurnLedger } from './budget/ledger.ts'
import { processBudget } from './budget/memory-budget.ts'
import type { EngineOptions } from './options.ts'

/** The facts of a turn that nested turns need. */
export interface ParentTurn {
  readonly turnId: string
  readonly options: EngineOptions
  readonly recorder: Recorder | undefined
  readonly ledger: TurnLedger
  readonly tools: ToolsState
  readonly ctx: { readonly deadline: number }
  /** The tool call in which this turn was started. */
  readonly caller: ParentCall | undefined
  /** Number of turns started below it. */
  readonly made: { turns: number }
}

/** The tool call that runs now. */
export interface ParentCall extends CallFrame {
  readonly turn: ParentTurn
  /** Number of enclosing turns. */
  readonly depth: number
  /** Number of turns started below the outermost one; shared by all of them. */
  readonly made: { turns: number }
}

/** Default limits of nesting. */
const DEFAULT_NESTING = { depth: 4, turns: 100 } as const

const runningCall = new AsyncLocalStorage<ParentCall>()

/** Returns the tool call in which this code runs, if any. */
export function currentCall(): ParentCall | undefined {
  return runningCall.getStore()
}

/** Returns the recorder of the turn whose tool runs this code, which bots in that tool use as well. */
export function inheritedRecorder(): Recorder | undefined {
  return currentCall()?.turn.recorder
}

/** Returns the models of the turn whose tool runs this code, if any. */
export function inheritedModels(): Required<Pick<EngineOptions, 'model' | 'fallbackModels'>> | undefined {
  const options = currentCall()?.turn.options
  return options === undefined ? undefined : { model: options.model, fallbackModels: options.fallbackModels ?? [] }
}

/** Runs a step of a tool so that nested turns find the enclosing one. */
export function inCallOf(turn: ParentTurn): <T>(frame: CallFrame, work: () => T) => T {
  const { caller } = turn
  return (frame, work) =>
    runningCall.run({ ...frame, turn, depth: (caller?.depth ?? 0) + 1, made: caller?.made ?? turn.made }, work)
}

/**
 * Adds inherited options to those of a turn; its own options win.
 *
 * @throws CriaError `budget_exceeded` if turns are nested too deeply or are too many; ConfigurationError for a model of unknown price
 *   if an enclosing turn or batch has a budget in money.
 */
export function inherited(options: EngineOptions, call: ParentCall | undefined, batch: Batch | undefined): EngineOptions {
  const own = call === undefined ? options : inheritedOfCall(options, call)
  if (batch === undefined) return own
  checkPrices(batch.budget, modelsNamed(own))
  return { ...own, abortSignal: either(own.abortSignal, batch.signal) }
}

function inheritedOfCall(options: EngineOptions, { turn, signal, depth, made }: ParentCall): EngineOptions {
  const { turns, depth: deepest } = { ...DEFAULT_NESTING, ...outermost(turn).options.nesting }
  if (depth > deepest)
    throw tooMany('depth', deepest, `Turns of tools may be nested ${deepest} deep, and this one would be at depth ${depth}.`)
  if (made.turns >= turns)
    throw tooMany('turns', turns, `The tools of a turn may start ${turns} turns, and this one would exceed that.`)
  // A model of unknown price could exceed the budget of an enclosing turn.
  for (let at: ParentTurn | undefined = turn; at !== undefined; at = at.caller?.turn)
    checkPrices(at.options.budget ?? {}, modelsNamed(options))
  made.turns++
  const given = turn.options
  // An `undefined` option counts as absent: it must not lift a restriction of the enclosing turn.
  const named = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined || name === 'recorder'),
  ) as unknown as EngineOptions
  const { day, user, tags } = given.budget ?? {}
  const shared = { ...(day && { day }), ...(user && { user }), ...(tags && { tags }) }
  return {
    ...('recorder' in options || given.recorder === undefined ? {} : { recorder: given.recorder }),
    ...defined({
      hasPermissionsToUseTool: given.hasPermissionsToUseTool,
      rules: given.rules,
      hooks: given.hooks,
      safeMode: given.safeMode,
    }),
    ...(Object.keys(shared).length === 0 ? {} : { budget: shared }),
    ...named,
    // User and tags are always inherited, whatever the tool names.
    ...(given.userId === undefined ? {} : { userId: given.userId }),
    ...(given.tags === undefined ? {} : { tags: [...new Set([...given.tags, ...(options.tags ?? [])])] }),
    abortSignal: either(options.abortSignal, signal),
  }
}

function either(own: AbortSignal | undefined, outer: AbortSignal): AbortSignal {
  return own === undefined ? outer : AbortSignal.any([own, outer])
}

function outermost(turn: ParentTurn): ParentTurn {
  let at = turn
  while (at.caller !== undefined) at = at.caller.turn
  return at
}

function tooMany(kind: string, limit: number, message: string): CriaError {
  return new CriaError('budget_exceeded', message, {
    hint: 'Do more in one turn, or raise `nesting` of the outermost one.',
    details: { kind, limit },
  })
}

export function refOf({ turn, callId }: ParentCall): CallRef {
  return { turnId: turn.turnId, callId }
}

/** Forwards the events of a nested turn to the reader of the enclosing turn as well, waiting for that reader. */
export async function* forwarded(
  events: AsyncGenerator<QueryEvent, QueryResult | undefined, undefined>,
  call: ParentCall,
): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  const parent = refOf(call)
  try {
    for (;;) {
      const next = await events.next()
      if (next.done === true) return next.value
      const event = next.value
      await call.forward(event.parent === undefined ? { ...event, parent } : event)
      yield event
    }
  } finally {
    await events.return(undefined)
  }
}

/** Settings inherited by the turns of a batch. */
export interface Batch {
  readonly ledger: TurnLedger
  readonly budget: Budget
  /** Aborting it ends all turns of the batch. */
  readonly signal: AbortSignal
  /** Deadline in epoch milliseconds; `Infinity` without a limit. */
  readonly deadline: number
  /** The tool call in which the batch was started. */
  readonly caller: ParentCall | undefined
}

const runningBatch = new AsyncLocalStorage<Batch>()

export function beginBatch(
  name: string,
  given: { readonly budget: Budget; readonly signal: AbortSignal; readonly deadline: number; readonly clock: Clock },
): Batch {
  const caller = currentCall()
  const parent = currentBatch(caller)?.ledger ?? caller?.turn.ledger
  return { ...given, caller, ledger: ledgerOf(name, given.budget, given.clock, parent) }
}

/** Runs `work` as a part of the batch; the returned ledger holds the use of its turns. */
export function inBatch<T>(
  batch: Batch,
  name: string,
  clock: Clock,
  work: () => T,
): { readonly ledger: TurnLedger; readonly value: T } {
  const ledger = ledgerOf(name, {}, clock, batch.ledger)
  return { ledger, value: runningBatch.run({ ...batch, ledger }, work) }
}

/** Returns the batch around this code, unless a turn within it is closer: turns started by a tool belong to its turn. */
export function currentBatch(caller: ParentCall | undefined): Batch | undefined {
  const batch = runningBatch.getStore()
  return batch?.caller === caller ? batch : undefined
}

function ledgerOf(name: string, budget: Budget, clock: Clock, parent: TurnLedger | undefined): TurnLedger {
  return new TurnLedger({ turnId: name, sessionId: name, clock, budget, store: processBudget, parent, scope: 'batch' })
}
