/** Counts the calls, changes, commands and refusals of a turn. */

import type { ErrorCode } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { ToolUse } from '../core/tool.ts'
import { defined } from '../util/check.ts'
import { canonicalJson } from '../util/hash.ts'

export interface Deed extends ToolUse {
  /** Absent while it runs. */
  isError?: boolean
  refused?: { readonly reason: string; readonly rule?: string }
}

/** Tools that change nothing: one that runs makes up for no refusal. */
const LOOKING: ReadonlySet<string> = new Set(
  // What an agent changes counts by its own calls.
  ['read_file', 'list_files', 'search_files', 'search_documents', 'fetch_url', 'ask_user', 'todo', 'agent'],
)
const CHANGING: ReadonlySet<string> = new Set(['write_file', 'edit_file'])

export class Deeds {
  readonly all: Deed[] = []
  /** Ids come from the model, and one may come again in another step. */
  readonly #open = new Map<string, Deed>()
  readonly #notices: object[] = []
  steps = 0
  sessionId: string | undefined
  finishReason: string | undefined
  /** The error that ended the turn. */
  errorCode: ErrorCode | undefined

  /** Returns the call that the event asks for or gives the result of. */
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

  /** Paths as the model wrote them, each once. */
  get changed(): readonly string[] {
    const done = this.all.filter(({ name, isError }) => CHANGING.has(name) && isError === false)
    return [...new Set(done.map(({ input }) => memberOf(input, 'path') ?? ''))]
  }

  get commands(): readonly Deed[] {
    return this.all.filter(({ name, refused }) => name === 'run_command' && refused === undefined)
  }

  /**
   * The last thing that was to have effects was refused: the task stands where permission ended. What was refused only because it had been
   * done before, again and again, lacks no permission.
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

/** A text of the arguments. */
export function memberOf(input: Json, key: string): string | undefined {
  const value: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, key) : undefined
  return typeof value === 'string' ? value : undefined
}
