/** Holds the state of the tools station between steps and turns. */

import type { Json } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { Recorder } from '../core/recorder.ts'
import type { PermissionDecision } from '../core/tool.ts'
import { canonicalJson, sha256 } from '../util/hash.ts'
import { Recent } from '../util/recent.ts'
import { readRules } from './permissions/rule-book.ts'
import type { ReadRule, RuleBook } from './permissions/rule-book.ts'
import type { ToolRules } from './permissions/rule.ts'

export interface ToolsState {
  /** True when the conversation contains text from documents, tools or the web. */
  untrusted: boolean
  /** Hashes of the calls of the latest steps, see `repeatedPeriod`. */
  steps: readonly string[]
  /** Steps in a row in which no call could be run. */
  futile: number
  /** Messages of the notices of this turn: each is yielded once. */
  readonly noticed: Set<string>
  readonly grants: SessionGrants
  /** Interrupted calls of earlier turns, whose effects are unknown: the idempotency key of each, by `callKey`. */
  unsettled: Map<string, string>
  rules(): Promise<RuleBook>
}

/** Calls that were allowed or refused for the rest of a session. */
export interface SessionGrants {
  /** By `callKey`. */
  readonly calls: Map<string, PermissionDecision>
  readonly rules: ReadRule[]
}

export interface StateOptions {
  readonly rules?: ToolRules | undefined
  readonly recorder?: Recorder | undefined
  readonly sessionId: string
  /** State of the turn whose tool started this turn: its grants apply here, and its untrusted text may be in the question. */
  readonly parent?: ToolsState | undefined
}

export function toolsState({ rules, recorder, sessionId, parent }: StateOptions): ToolsState {
  let book: Promise<RuleBook> | undefined
  return {
    untrusted: parent?.untrusted ?? false,
    steps: [],
    futile: 0,
    noticed: new Set(),
    grants: parent?.grants ?? grantsOf(recorder, sessionId),
    unsettled: new Map(),
    rules: () => (book ??= readRules(rules ?? {})),
  }
}

const MAX_SESSIONS = 1000
/** Grants by journal and session. They end with the process at the latest. */
const sessions = new WeakMap<Recorder, Recent<SessionGrants>>()

function grantsOf(recorder: Recorder | undefined, sessionId: string): SessionGrants {
  const none: SessionGrants = { calls: new Map(), rules: [] }
  if (recorder === undefined) return none
  const known = sessions.get(recorder) ?? new Recent<SessionGrants>(MAX_SESSIONS)
  sessions.set(recorder, known)
  const grants = known.get(sessionId) ?? none
  known.set(sessionId, grants)
  return grants
}

/** Matches the namespace in which some APIs present tools, and which models then write: `functions.search`. */
const NAMESPACE = /^(?:functions?|tools?|default_api)[.:/]/

/** Returns the name of a tool without a namespace. Names of tools cannot contain one. */
export function bareName(name: string): string {
  return name.replace(NAMESPACE, '')
}

/** Returns an equal key for the same call of the same tool, with or without a namespace. */
export function callKey(name: string, input: Json): string {
  return `${bareName(name)} ${canonicalJson(input)}`
}

/**
 * Returns the idempotency keys of interrupted calls in a history, by `callKey`. These calls run again only with permission. A later
 * success of the same call settles it.
 */
export function unsettledCalls(history: readonly Message[]): Map<string, string> {
  const unsettled = new Map<string, string>()
  const keys = new Map<string, string>()
  for (const part of history.flatMap(({ parts }) => parts)) {
    if (part.type === 'tool-call') keys.set(part.id, callKey(part.name, part.input))
    if (part.type !== 'tool-result') continue
    const key = keys.get(part.id)
    if (key === undefined) continue
    if (part.unknownEffects !== undefined) unsettled.set(key, part.unknownEffects.idempotencyKey)
    else if (!part.isError) unsettled.delete(key)
  }
  return unsettled
}

/** The longest repetition that is detected, in steps, and its number of occurrences before the user is asked. */
const MAX_PERIOD = 4
const REPETITIONS = 3

/** Appends the newest step to the remembered steps. */
export function withStep(steps: readonly string[], calls: readonly Pick<ToolCallPart, 'name' | 'input'>[]): readonly string[] {
  const key = sha256(canonicalJson(calls.map(({ name, input }) => [name, input])))
  return [...steps, key].slice(-MAX_PERIOD * REPETITIONS)
}

/**
 * Detects a model that repeats itself: returns the number of steps that the newest step completes for the third time, 1 for the same step
 * three times in a row, 2 for two steps in turn, up to 4. `undefined` when there is no repetition.
 *
 * Compares whole steps, not calls: calls of one step belong together, and a test that runs again after another edit is not a
 * repetition.
 */
export function repeatedPeriod(steps: readonly string[]): number | undefined {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const first = steps.length - period * REPETITIONS
    if (first < 0) return undefined
    if (steps.slice(first + period).every((step, index) => step === steps[first + index])) return period
  }
  return undefined
}
