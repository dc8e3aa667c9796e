/**
 * Makes a history one that every provider accepts: each call of an assistant message has one result, directly behind the message and in
 * the order of the calls; no id occurs twice; nothing is empty or in the wrong place. What differs between providers (where instructions
 * stand, who begins, which names and ids they take) is the matter of their adapters.
 *
 * A history is repaired when it comes in. What a turn adds is valid as it is, so that a step costs only what is new in it.
 */

import { textOf } from '../core/message.ts'
import type { Role } from '../core/message.ts'
import type { RequestMessage } from '../core/model.ts'
import type { Part, ToolCallPart, ToolResultPart } from '../core/part.ts'

/** A fault of a history. */
export type Defect =
  | 'missing_result'
  | 'orphan_result'
  | 'repeated_result'
  | 'moved_result'
  | 'misnamed_result'
  | 'repeated_call_id'
  | 'repeated_thinking'
  | 'misplaced_part'
  | 'empty_part'
  | 'empty_message'

export interface Repair {
  readonly defect: Defect
  /** Place in the history as it was given, from 0. */
  readonly message: number
  /** Of the call, where it is about one. */
  readonly id?: string
}

export interface Repaired {
  /** The very list that was given, when nothing was wrong with it; messages that needed no change are the same objects in any case. */
  readonly messages: readonly RequestMessage[]
  readonly repairs: readonly Repair[]
}

export function repairHistory(given: readonly RequestMessage[]): Repaired {
  const repairs: Repair[] = []
  const messages = cleaned(given, repairs)
  const calls = matched(messages, repairs)
  const sound = assembled(messages, calls, repairs)
  return repairs.length === 0 ? { messages: given, repairs } : { messages: sound, repairs }
}

/** The parts that a message of each role may have. Results of tools are looked for everywhere. */
const MAY_SAY: Readonly<Record<Role, ReadonlySet<Part['type']>>> = {
  system: new Set(['text']),
  developer: new Set(['text']),
  user: new Set(['text', 'image', 'file']),
  retrieved: new Set(['text', 'image', 'file']),
  assistant: new Set(['text', 'thinking', 'tool-call', 'opaque', 'image', 'file']),
  tool: new Set(),
}

/** A message of the history without what no provider takes; its results are kept apart until they are matched. */
interface Clean {
  /** `undefined` when nothing is left of it. */
  readonly message: RequestMessage | undefined
  readonly results: readonly ToolResultPart[]
}

function cleaned(given: readonly RequestMessage[], repairs: Repair[]): Clean[] {
  const thoughts = new Set<string>()
  return given.map((message, index) => {
    const results = message.parts.filter((part) => part.type === 'tool-result')
    const own = new Set<string>()
    const parts = message.parts.filter((part) => {
      if (part.type === 'tool-result') return message.role === 'tool'
      const defect = defectOf(part, message.role, thoughts, own)
      if (defect !== undefined) repairs.push({ defect, message: index })
      return defect === undefined
    })
    for (const thought of own) thoughts.add(thought)
    if (!saysSomething(message.role, parts)) {
      if (results.length === 0) repairs.push({ defect: 'empty_message', message: index })
      return { message: undefined, results }
    }
    return { message: parts.length === message.parts.length ? message : withParts(message, parts), results }
  })
}

/** @param thoughts what earlier messages have thought; of this message it is added to `own`. */
function defectOf(part: Part, role: Role, thoughts: ReadonlySet<string>, own: Set<string>): Defect | undefined {
  if (!MAY_SAY[role].has(part.type)) return 'misplaced_part'
  if (part.type === 'text') return part.text.trim() === '' && part.providerData === undefined ? 'empty_part' : undefined
  if (part.type !== 'thinking' || part.providerData === undefined) return undefined
  // Providers refuse an item of theirs that comes twice; one message may hold several pieces of it.
  const thought = JSON.stringify(part.providerData)
  if (thoughts.has(thought)) return 'repeated_thinking'
  own.add(thought)
  return undefined
}

function saysSomething(role: Role, parts: readonly Part[]): boolean {
  return role === 'assistant' ? parts.some((part) => part.type !== 'thinking') : parts.length > 0
}

/** A call, where it stands, and what answers it. */
interface Call {
  readonly part: ToolCallPart
  readonly message: number
  /** As it will be sent. */
  readonly id: string
  result?: Result
}

interface Result {
  readonly part: ToolResultPart
  readonly message: number
}

/** The calls of each message, each with its result, where there is one. */
function matched(messages: readonly Clean[], repairs: Repair[]): ReadonlyMap<number, readonly Call[]> {
  const byMessage = new Map<number, Call[]>()
  const byId = new Map<string, Call[]>()
  const early: Result[] = []
  const ids = freeIds(messages)
  messages.forEach(({ message, results }, index) => {
    if (message?.role === 'assistant') {
      const calls = message.parts
        .filter((part) => part.type === 'tool-call')
        .map((part): Call => ({ part, message: index, id: ids.next(part.id) }))
      if (calls.length > 0) byMessage.set(index, calls)
      for (const call of calls) {
        if (call.id !== call.part.id) repairs.push({ defect: 'repeated_call_id', message: index, id: call.part.id })
        const others = byId.get(call.part.id)
        if (others === undefined) byId.set(call.part.id, [call])
        else others.push(call)
      }
    }
    for (const part of results) {
      const result: Result = { part, message: index }
      const asked = byId.get(part.id)
      const call = asked === undefined ? undefined : latestOpen(asked)
      if (call !== undefined) call.result = result
      else if (asked === undefined) early.push(result)
      else repairs.push({ defect: 'repeated_result', message: index, id: part.id })
    }
  })
  for (const result of early) {
    const { id } = result.part
    const call = byId.get(id)?.find((asked) => asked.result === undefined)
    if (call !== undefined) call.result = result
    else repairs.push({ defect: 'orphan_result', message: result.message, id })
  }
  return byMessage
}

/** Of calls that share an id: the first open one of the last message that has any. */
function latestOpen(calls: readonly Call[]): Call | undefined {
  const last = calls.findLastIndex((call) => call.result === undefined)
  let first = last
  while (first > 0 && calls[first - 1]?.message === calls[last]?.message && calls[first - 1]?.result === undefined) first--
  return calls[first]
}

/** Gives each call an id of its own: the one it has, where that is free. */
function freeIds(messages: readonly Clean[]): { readonly next: (id: string) => string } {
  const known = new Set(messages.flatMap(({ message }) => (message?.parts ?? []).flatMap((part) => idsOf(part))))
  const given = new Set<string>()
  const counts = new Map<string, number>()
  return {
    next(id) {
      let free = id
      const stem = id === '' ? 'call' : id.slice(0, MAX_STEM)
      let count = counts.get(id) ?? 1
      while (free === '' || given.has(free) || (free !== id && known.has(free))) free = `${stem}_${++count}`
      counts.set(id, count)
      given.add(free)
      return free
    },
  }
}

function idsOf(part: Part): readonly string[] {
  return part.type === 'tool-call' ? [part.id] : []
}

/** OpenAI takes ids of 40 characters. */
const MAX_STEM = 32

function assembled(messages: readonly Clean[], calls: ReadonlyMap<number, readonly Call[]>, repairs: Repair[]): RequestMessage[] {
  const sound: RequestMessage[] = []
  messages.forEach(({ message }, index) => {
    // Results come behind their calls, wherever they stood.
    if (message === undefined || message.role === 'tool') return
    const made = calls.get(index)
    if (made === undefined) {
      sound.push(message)
      return
    }
    sound.push(renamed(message, made), ...answers(made, messages, repairs))
    noteMoved(made, messages, repairs)
  })
  return sound
}

function renamed(message: RequestMessage, calls: readonly Call[]): RequestMessage {
  if (calls.every(({ id, part }) => id === part.id)) return message
  const ids = new Map<Part, string>(calls.map(({ part, id }) => [part, id]))
  return withParts(
    message,
    message.parts.map((part) => (part.type === 'tool-call' ? { ...part, id: ids.get(part) ?? part.id } : part)),
  )
}

/** The results of a message's calls; a tool message that holds just what is wanted stays as it is. */
function answers(calls: readonly Call[], messages: readonly Clean[], repairs: Repair[]): RequestMessage[] {
  const answered: RequestMessage[] = []
  for (let at = 0; at < calls.length;) {
    const call = calls[at] as Call
    const { result } = call
    const whole = result === undefined ? undefined : messages[result.message]
    const parts = whole?.results ?? []
    if (
      whole?.message?.role === 'tool' &&
      parts.every((part, offset) => {
        const wanted = calls[at + offset]
        return wanted?.result?.part === part && wanted.id === part.id && wanted.part.name === part.name
      })
    ) {
      answered.push(whole.message)
      at += parts.length
      continue
    }
    const { id, name } = call.part
    if (result === undefined) repairs.push({ defect: 'missing_result', message: call.message, id })
    else if (result.part.name !== name) repairs.push({ defect: 'misnamed_result', message: result.message, id })
    answered.push(toolMessage(result === undefined ? noResult(call) : { ...result.part, id: call.id, name }))
    at += 1
  }
  return answered
}

/** Says nothing that nobody knows: the tool may have run. */
function noResult({ id, part }: Call): ToolResultPart {
  const content =
    part.invalid === undefined
      ? 'Interrupted: no result of this call was kept. If it was started, its effects are unknown: it may have had all of them, some, or none.'
      : 'Not run: its arguments were not valid JSON.'
  return { type: 'tool-result', id, name: part.name, content, isError: true }
}

/** A result is in its place in a tool message behind the call, with nothing but tool messages between, and in the order of the calls. */
function noteMoved(calls: readonly Call[], messages: readonly Clean[], repairs: Repair[]): void {
  const index = calls[0]?.message ?? 0
  let end = index + 1
  while (end < messages.length && (messages[end]?.message === undefined || messages[end]?.message?.role === 'tool')) end += 1
  let last = -1
  let lastPart = -1
  for (const { result, part } of calls) {
    if (result === undefined) continue
    const { message, results } = messages[result.message] as Clean
    const place = results.indexOf(result.part)
    const inPlace =
      message?.role === 'tool' &&
      result.message > index &&
      result.message < end &&
      (result.message > last || (result.message === last && place > lastPart))
    if (!inPlace) repairs.push({ defect: 'moved_result', message: result.message, id: part.id })
    last = result.message
    lastPart = place
  }
}

function toolMessage(result: ToolResultPart): RequestMessage {
  return { role: 'tool', content: result.content, parts: [result] }
}

function withParts(message: RequestMessage, parts: readonly Part[]): RequestMessage {
  const { toolCalls: _, ...rest } = message
  const toolCalls = parts.filter((part) => part.type === 'tool-call')
  return { ...rest, content: textOf(parts), parts, ...(toolCalls.length === 0 ? {} : { toolCalls }) }
}
