/** Types what the tools station remembers from step to step and turn to turn. */

import type { NoticeEvent } from '../core/event.ts'
import type { PermissionDecision } from '../core/tool.ts'
import type { Recorder } from '../core/recorder.ts'
import { Recent } from '../util/recent.ts'
import { readRules } from './permissions/rule-book.ts'
import type { ReadRule, RuleBook } from './permissions/rule-book.ts'
import type { ToolRules } from './permissions/rule.ts'
import type { UnsettledCalls } from './unsettled.ts'

export interface ToolsState {
  /** Text from documents, tools or the web is part of the conversation. */
  untrusted: boolean
  /** Keys of the latest steps, see `repetition.ts`. */
  steps: readonly string[]
  /** Steps in a row in which no call could be run. */
  futile: number
  readonly grants: SessionGrants
  /** Calls of earlier turns whose effects are unknown. */
  unsettled: UnsettledCalls
  /** What is to be told and has not been yet. */
  readonly notices: NoticeEvent[]
  rules(): Promise<RuleBook>
}

/** What was allowed or refused for the rest of a session. */
export interface SessionGrants {
  /** By tool and arguments, see `callKey`. */
  readonly calls: Map<string, PermissionDecision>
  readonly rules: ReadRule[]
}

export interface StateOptions {
  readonly rules?: ToolRules | undefined
  readonly recorder?: Recorder | undefined
  readonly sessionId: string
  /** Of the turn whose tool makes this one: what was granted there holds here, and what it has read may be in the question. */
  readonly parent?: ToolsState | undefined
}

export function toolsState({ rules, recorder, sessionId, parent }: StateOptions): ToolsState {
  let book: Promise<RuleBook> | undefined
  return {
    untrusted: parent?.untrusted ?? false,
    steps: [],
    futile: 0,
    grants: parent !== undefined ? parent.grants : recorder === undefined ? noGrants() : grantsOf(recorder, sessionId),
    unsettled: new Map(),
    notices: [],
    rules: () => (book ??= readRules(rules ?? {})),
  }
}

const MAX_SESSIONS = 1000
/** A session belongs to its journal, and what was granted in it ends with the process at the latest. */
const sessions = new WeakMap<Recorder, Recent<SessionGrants>>()

function grantsOf(recorder: Recorder, sessionId: string): SessionGrants {
  const known = sessions.get(recorder) ?? new Recent<SessionGrants>(MAX_SESSIONS)
  sessions.set(recorder, known)
  const grants = known.get(sessionId) ?? noGrants()
  known.set(sessionId, grants)
  return grants
}

function noGrants(): SessionGrants {
  return { calls: new Map(), rules: [] }
}
