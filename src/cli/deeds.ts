/** Collects the tool calls, changes, commands and refusals of a turn. */

import type { ErrorCode } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { ToolUse } from '../core/tool.ts'
import { defined } from '../util/check.ts'
import { canonicalJson } from '../util/hash.ts'

export interface Deed extends ToolUse {
  /** Absent while the call runs. */
  isError?: boolean
  refused?: { readonly reason: string; readonly rule?: string }
}

/** Read-only tools: their success does not make up for a refused change. */
const LOOKING: ReadonlySet<string> = new Set(
  // Changes of a sub-agent are counted by its own calls.
  ['read_file', 'list_files', 'search_files', 'search_documents', 'fetch_url', 'ask_user', 'todo', 'agent'],
)
const CHANGING: ReadonlySet<string> = new Set(['write_file', 'edit_file'])

export class Deeds {
  readonly all: Deed[] = []
  /** Keyed by turn and call id; ids come from the model and may repeat in another step. */
  readonly #open = new Map<string, Deed>()
  readonly #notices: object[] = []
  steps = 0
  sessionId: string | undefined
  finishReason: string | undefined
  /** The error that ended the turn. */
  errorCode: ErrorCode | undefined

  /** Records an event; returns the call that it requests or completes, if any. */
  add(event: QueryEvent): Deed | undefined {
    if (event.parent === undefined) {
      this.steps = Math.max(this.steps, event.step)
      this.sessionId = event.sessionId
      if (event.type === 'complete') this.finishReason = event.result.finishReason
      if (event.type === 'error') this.errorCode = event.error.code
    }
    const keyOf = (id: string): string => `${event.turnId} ${id}`
    if (event.type === 'tool_request') {
      const deed: Deed = { ...event.tool }
      this.all.push(deed)
      this.#open.set(keyOf(deed.id), deed)
      return deed
    }
    if (event.type === 'tool_result') {
      const deed = this.#open.get(keyOf(event.result.id))
      if (deed !== undefined) deed.isError = event.result.isError
      return deed
    }
    if (event.type === 'permission_decision') {
      for (const { id, granted, reason, rule } of event.decisions) {
        const deed = this.#open.get(keyOf(id))
        if (deed !== undefined && !granted) deed.refused = { reason, ...defined({ rule }) }
      }
    }
    if (event.type === 'notice') {
      const { code, message, details } = event
      this.#notices.push({ code, message, ...defined({ details }) })
    }
    return undefined
  }

  get refused(): readonly Deed[] {
    return this.all.filter(({ refused }) => refused !== undefined)
  }

  /** Distinct paths of changed files, as the model wrote them. */
  get changed(): readonly string[] {
    const done = this.all.filter(({ name, isError }) => CHANGING.has(name) && isError === false)
    return [...new Set(done.map(({ input }) => memberOf(input, 'path') ?? ''))]
  }

  get commands(): readonly Deed[] {
    return this.all.filter(({ name, refused }) => name === 'run_command' && refused === undefined)
  }

  /**
   * Whether the last change or command was refused, so that missing permission ended the task. A refusal only because the same call had run
   * before does not count.
   */
  get wasHeldBack(): boolean {
    const ran = new Set<string>()
    let held = false
    for (const { name, input, isError, refused } of this.all) {
      const key = `${name} ${canonicalJson(input)}`
      if (refused === undefined) ran.add(key)
      if (refused !== undefined) held ||= !ran.has(key)
      else if (!LOOKING.has(name) && isError === false) held = false
    }
    return held
  }

  toJson(): object {
    return {
      steps: this.steps,
      toolCalls: this.all.map(({ id, name, input, isError }) => ({ id, name, input, isError: isError ?? true })),
      refused: this.refused.map(({ id, name, refused }) => ({ id, name, ...refused })),
      changed: this.changed,
      notices: this.#notices,
    }
  }
}

/** Returns a member of the arguments if it is a string. */
export function memberOf(input: Json, key: string): string | undefined {
  const value: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, key) : undefined
  return typeof value === 'string' ? value : undefined
}
