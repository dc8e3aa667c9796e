/** Counts the calls, changes, commands and refusals of a turn. */

import type { ErrorCode } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { ToolUse } from '../core/tool.ts'
import { canonicalJson } from '../util/hash.ts'

export interface Deed extends ToolUse {
  /** Absent while it runs. */
  isError?: boolean
  refused?: { readonly reason: string; readonly rule?: string }
}

/** Tools that change nothing: one that runs makes up for no refusal. */
const LOOKING: ReadonlySet<string> = new Set([
  'read_file',
  'list_files',
  'search_files',
  'search_documents',
  'fetch_url',
  'ask_user',
  'todo',
  // What it changes counts by its own calls.
  'agent',
])
const CHANGING: ReadonlySet<string> = new Set(['write_file', 'edit_file'])

export class Deeds {
  readonly #deeds = new Map<string, Deed>()
  /** Ids come from the model, and one may come again in another step. */
  readonly #open = new Map<string, Deed>()
  steps = 0
  sessionId: string | undefined
  finishReason: string | undefined
  readonly #notices: object[] = []
  /** The error that ended the turn. */
  errorCode: ErrorCode | undefined

  add(event: QueryEvent): Deed | undefined {
    const isNested = event.parent !== undefined
    if (!isNested) {
      this.steps = Math.max(this.steps, event.step)
      this.sessionId = event.sessionId
    }
    const keyOf = (id: string): string => `${event.turnId} ${id}`
    switch (event.type) {
      case 'tool_request': {
        const deed: Deed = { ...event.tool }
        this.#deeds.set(keyOf(`${event.seq}`), deed)
        this.#open.set(keyOf(deed.id), deed)
        return deed
      }
      case 'permission_decision':
        for (const { id, granted, reason, rule } of event.decisions) {
          const deed = this.#open.get(keyOf(id))
          if (deed !== undefined && !granted) deed.refused = { reason, ...(rule === undefined ? {} : { rule }) }
        }
        return undefined
      case 'tool_result': {
        const deed = this.#open.get(keyOf(event.result.id))
        if (deed !== undefined) deed.isError = event.result.isError
        return deed
      }
      case 'notice': {
        const { code, message, details } = event
        this.#notices.push({ code, message, ...(details === undefined ? {} : { details }) })
        return undefined
      }
      case 'complete':
        if (!isNested) this.finishReason = event.result.finishReason
        return undefined
      case 'error':
        if (!isNested) this.errorCode = event.error.code
        return undefined
      default:
        return undefined
    }
  }

  get all(): readonly Deed[] {
    return [...this.#deeds.values()]
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
