/** Collects the tool calls of a run or a chat from its events. */

import type { QueryEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { Tool, ToolUse } from '../core/tool.ts'
import { canonicalJson } from '../util/hash.ts'
import { ignoreRejection, isPromise } from '../util/promise.ts'

/** Things that a call may change: none, files, anything (`command`), or something that its tool does not name (`other`). */
type Effect = 'none' | 'files' | 'command' | 'other'

export interface ToolCallRecord extends ToolUse {
  /** Counts the calls of the collection from 1; `/show N` of a chat shows a call in full. */
  readonly number: number
  /** Identifies the call in one line, such as a path or a command. */
  readonly title?: string | undefined
  readonly effect: Effect
  /** The call waits for a person, so its duration says nothing about the tool. */
  readonly asksUser?: boolean | undefined
  /** The result is shown whole below the call. */
  readonly showsResult?: boolean | undefined
  /** The result; while the call runs, its latest progress. */
  content: string
  durationMs: number
  /** Absent while the call runs. */
  isError?: boolean
  refused?: { readonly reason: string; readonly rule?: string }
  /** The user is being asked for permission, so the call does not run yet. */
  isAsked?: boolean
}

export class ToolCalls {
  readonly #tools: () => readonly Tool[]
  readonly #most: number
  readonly #all: ToolCallRecord[] = []
  /** Calls without a result, by turn and id: ids come from the model and may repeat in another step. */
  readonly #open = new Map<string, ToolCallRecord>()
  #count = 0

  /**
   * @param tools the tools that may be called; asked again for each call, because those of MCP servers may change.
   * @param most Calls that are kept; older ones are dropped. Default: unlimited.
   */
  constructor(tools: () => readonly Tool[], most: number = Infinity) {
    this.#tools = tools
    this.#most = most
  }

  /** Records an event; returns the call that it requests, reports progress of or completes, if any. */
  add(event: QueryEvent): ToolCallRecord | undefined {
    const keyOf = (id: string): string => `${event.turnId} ${id}`
    const update = (id: string, news: Partial<ToolCallRecord>): ToolCallRecord | undefined => {
      const call = this.#open.get(keyOf(id))
      return call === undefined ? undefined : Object.assign(call, news)
    }
    switch (event.type) {
      case 'tool_request': {
        const call = this.#begin(event.tool)
        this.#open.set(keyOf(call.id), call)
        return call
      }
      case 'permission_request':
        for (const { id } of event.tools) update(id, { isAsked: true })
        return undefined
      case 'permission_decision':
        for (const { id, granted, ...refused } of event.decisions) update(id, { isAsked: false, ...(granted ? {} : { refused }) })
        return undefined
      case 'tool_progress':
        return update(event.id, { content: event.content })
      case 'tool_result': {
        const { id, content, isError, durationMs } = event.result
        const call = update(id, { content, isError, durationMs })
        this.#open.delete(keyOf(id))
        return call
      }
      default:
        return undefined
    }
  }

  get all(): readonly ToolCallRecord[] {
    return this.#all
  }

  get running(): readonly ToolCallRecord[] {
    return [...this.#open.values()].filter(({ isAsked, refused }) => isAsked !== true && refused === undefined)
  }

  get last(): ToolCallRecord | undefined {
    return this.#all.at(-1)
  }

  find(number: number): ToolCallRecord | undefined {
    return this.#all.find((call) => call.number === number)
  }

  /** Returns the title of a call that need not be in the collection. */
  titleOf({ name, input }: Pick<ToolUse, 'name' | 'input'>): string | undefined {
    return titleOf(this.#toolOf(name), input)
  }

  #toolOf(name: string): Tool | undefined {
    return this.#tools().find((tool) => tool.name === name)
  }

  #begin(use: ToolUse): ToolCallRecord {
    const tool = this.#toolOf(use.name)
    const call: ToolCallRecord = {
      ...use,
      number: ++this.#count,
      title: titleOf(tool, use.input),
      effect: effectOf(tool, use.input),
      asksUser: tool?.asksUser,
      showsResult: tool?.showsResult,
      content: '',
      durationMs: 0,
    }
    this.#all.push(call)
    if (this.#all.length > this.#most) this.#all.shift()
    return call
  }
}

/** Arguments that identify a call of a tool without a `title`, such as one of an MCP server, in order of preference. */
const IDENTIFYING = ['command', 'path', 'pattern', 'url', 'query', 'question', 'glob'] as const

export function titleOf(tool: Tool | undefined, input: Json): string | undefined {
  if (tool?.title === undefined) return IDENTIFYING.map((key) => memberOf(input, key)).find((value) => value !== undefined)
  const title: unknown = orNothing(() => tool.title?.(input as never))
  return typeof title === 'string' ? title : undefined
}

/** A tool that is unknown or declares nothing counts as one that changes something. */
function effectOf(tool: Tool | undefined, input: Json): Effect {
  if (tool === undefined) return 'other'
  const resources = orNothing(() => tool.resources?.(input as never))
  const writesNothing = orNothing(() => resources !== undefined && (resources.writes ?? []).length === 0)
  if (tool.isReadOnly === true || writesNothing === true) return 'none'
  const kinds = subjectKinds(tool, input)
  if (kinds.includes('command')) return 'command'
  return kinds.includes('path') ? 'files' : 'other'
}

/** Returns the kinds of the subjects of a call; empty for a tool without subjects and for arguments that do not fit. */
export function subjectKinds(tool: Tool | undefined, input: Json): readonly string[] {
  const subjects = orNothing(() => tool?.subjects?.(input as never))
  return orNothing(() => subjects?.map(({ kind }) => kind)) ?? []
}

/** Calls a function of a tool. The arguments were not checked yet, so that it may throw; a promise, which it must not return, is ignored. */
function orNothing<T>(work: () => T): T | undefined {
  try {
    const result = work()
    ignoreRejection(result)
    return isPromise(result) ? undefined : result
  } catch {
    return undefined
  }
}

/** Returns a member of the arguments if it is a string. */
export function memberOf(input: Json, key: string): string | undefined {
  const value: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, key) : undefined
  return typeof value === 'string' ? value : undefined
}

export function refusedCalls(calls: readonly ToolCallRecord[]): readonly ToolCallRecord[] {
  return calls.filter(({ refused }) => refused !== undefined)
}

/** Returns the distinct paths of changed files, as the model wrote them. */
export function changedFiles(calls: readonly ToolCallRecord[]): readonly string[] {
  const done = calls.filter(({ effect, isError }) => effect === 'files' && isError === false)
  return [...new Set(done.map(({ title }) => title ?? ''))]
}

/**
 * Returns whether the last change or command was refused, so that missing permission ended the task. A refusal only because the same call
 * had run before does not count.
 */
export function wasHeldBack(calls: readonly ToolCallRecord[]): boolean {
  const ran = new Set<string>()
  let held = false
  for (const { name, input, isError, refused, effect } of calls) {
    const key = `${name} ${canonicalJson(input)}`
    if (refused === undefined) ran.add(key)
    if (refused !== undefined) held ||= !ran.has(key)
    else if (effect !== 'none' && isError === false) held = false
  }
  return held
}
