/**
 * Nests turns: a turn inherits signal, budget, permission, recorder and span from the turn whose tool makes it, or from its batch. Its events are
 * shown there as well.
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
import { checkPrices } from './budget/cost.ts'
import { modelsNamed } from './checks/options.ts'
import { TurnLedger } from './budget/ledger.ts'
import { processBudget } from './budget/memory-budget.ts'
import type { EngineOptions } from './options.ts'

/** A turn, as far as those that its tools make are concerned. */
export interface ParentTurn {
  readonly turnId: string
  readonly options: EngineOptions
  readonly recorder: Recorder | undefined
  readonly ledger: TurnLedger
  readonly tools: ToolsState
  readonly ctx: { readonly deadline: number }
  /** The tool call that it was made in itself. */
  readonly caller: ParentCall | undefined
  /** Counts the turns that are made below it. */
  readonly made: { turns: number }
}

/** The tool call that runs now. */
export interface ParentCall extends CallFrame {
  readonly turn: ParentTurn
  /** Turns around this call. */
  readonly depth: number
  /** Turns that were begun below the outermost one; shared by all of them. */
  readonly made: { turns: number }
}

/** Limits of nesting, where the outermost turn says nothing. */
const DEFAULT_NESTING = { depth: 4, turns: 100 } as const

const runningCall = new AsyncLocalStorage<ParentCall>()

/** The tool call that this code runs in, where it does. */
export function currentCall(): ParentCall | undefined {
  return runningCall.getStore()
}

/** Where turns of bots are written down that are made in a tool: where its own turn is. */
export function inheritedRecorder(): Recorder | undefined {
  return currentCall()?.turn.recorder
}

/** The models of the turn around this code, where there is one. */
export function inheritedModels(): Required<Pick<EngineOptions, 'model' | 'fallbackModels'>> | undefined {
  const options = currentCall()?.turn.options
  return options === undefined ? undefined : { model: options.model, fallbackModels: options.fallbackModels ?? [] }
}

/** Runs a step of a tool where turns that it makes find the one around it. */
export function inCallOf(turn: ParentTurn): <T>(frame: CallFrame, work: () => T) => T {
  const { caller } = turn
  return (frame, work) =>
    runningCall.run({ ...frame, turn, depth: (caller?.depth ?? 0) + 1, made: caller?.made ?? turn.made }, work)
}

/**
 * The options of a turn with what it inherits; what it names itself stays.
 *
 * @throws CriaError `budget_exceeded` for a turn that is nested too deeply, or one too many; ConfigurationError for a model without a known price
 *   where a turn or a batch around it has a budget in money.
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
    throw tooMany('depth', deepest, `Turns that tools make may be nested ${deepest} deep, and this one would be number ${depth}.`)
  if (made.turns >= turns)
    throw tooMany('turns', turns, `The tools of a turn may make ${turns} turns, and this one would be one more.`)
  // A model whose price nobody knows could spend what a turn around it may not.
  for (let at: ParentTurn | undefined = turn; at !== undefined; at = at.caller?.turn)
    checkPrices(at.options.budget ?? {}, modelsNamed(options))
  made.turns++
  const given = turn.options
  // An option that is `undefined` was not named: it must not take away what the turn around it forbids.
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
    // Made for the same user, and found by the same tags, whatever the tool says.
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

/** Shows the events of a nested turn to the reader of the turn around it too, who is waited for. */
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

/** The settings that turns of a batch inherit. */
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

const runningBatch = new AsyncLocalStorage<Batch>()

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
  return { ledger, value: runningBatch.run({ ...batch, ledger }, work) }
}

/** The batch around this code, unless a turn of it is nearer: what a tool makes belongs to its turn. */
export function currentBatch(caller: ParentCall | undefined): Batch | undefined {
  const batch = runningBatch.getStore()
  return batch?.caller === caller ? batch : undefined
}

function ledgerOf(name: string, budget: Budget, clock: Clock, parent: TurnLedger | undefined): TurnLedger {
  return new TurnLedger({ turnId: name, sessionId: name, clock, budget, store: processBudget, parent, scope: 'batch' })
}
