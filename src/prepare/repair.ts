/**
 * Repairs a history so that every provider accepts it: each call of an assistant message has one result, directly after the message and in
 * the order of the calls; no id occurs twice; no part is empty or in the wrong place. Adapters handle differences between providers
 * (position of instructions, role of the first message, allowed names and ids).
 *
 * A history is repaired once, when it is received. Messages added by a turn are valid, so that a step need not check the history again.
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
  /** Index in the original history, from 0. */
  readonly message: number
  /** Id of the call, if the fault concerns one. */
  readonly id?: string
}

export interface Repaired {
  /** The repaired messages: the same list if there was no fault; unchanged messages are the same objects. */
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

/** Part types allowed in a message of each role. Tool results are collected from all roles. */
const MAY_SAY: Readonly<Record<Role, ReadonlySet<Part['type']>>> = {
  system: new Set(['text']),
  developer: new Set(['text']),
  user: new Set(['text', 'image', 'file']),
  retrieved: new Set(['text', 'image', 'file']),
  assistant: new Set(['text', 'thinking', 'tool-call', 'opaque', 'image', 'file']),
  tool: new Set(),
}

/** A message without the parts that no provider accepts; its results are kept separately until they are matched. */
interface Clean {
  /** `undefined` if no part is left. */
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

/** @param thoughts thinking of earlier messages; that of this message is added to `own`. */
function defectOf(part: Part, role: Role, thoughts: ReadonlySet<string>, own: Set<string>): Defect | undefined {
  if (!MAY_SAY[role].has(part.type)) return 'misplaced_part'
  if (part.type === 'text') return part.text.trim() === '' && part.providerData === undefined ? 'empty_part' : undefined
  if (part.type !== 'thinking' || part.providerData === undefined) return undefined
  // Providers reject a repeated item of theirs; one message may hold several pieces of an item.
  const thought = JSON.stringify(part.providerData)
  if (thoughts.has(thought)) return 'repeated_thinking'
  own.add(thought)
  return undefined
}

function saysSomething(role: Role, parts: readonly Part[]): boolean {
  return role === 'assistant' ? parts.some((part) => part.type !== 'thinking') : parts.length > 0
}

/** A call with its position and result. */
interface Call {
  readonly part: ToolCallPart
  readonly message: number
  /** The id as sent. */
  readonly id: string
  result?: Result
}

interface Result {
  readonly part: ToolResultPart
  readonly message: number
}

/** Matches the calls of each message with their results. */
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

/** Returns, of calls with the same id, the first open one of the last message with open calls. */
function latestOpen(calls: readonly Call[]): Call | undefined {
  const last = calls.findLastIndex((call) => call.result === undefined)
  let first = last
  while (first > 0 && calls[first - 1]?.message === calls[last]?.message && calls[first - 1]?.result === undefined) first--
  return calls[first]
}

/** Assigns a unique id to each call: its own if that is free. */
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
    // Results follow their calls, whatever their original position.
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

/** Returns the results of a message's calls; reuses a tool message that holds exactly these. */
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

/** Makes the result of a call without one. The tool may have run, so its effects are reported as unknown. */
function noResult({ id, part }: Call): ToolResultPart {
  const content =
    part.invalid === undefined
      ? 'Interrupted: no result of this call was kept. If it was started, its effects are unknown: it may have had all of them, some, or none.'
      : 'Not run: its arguments were not valid JSON.'
  return { type: 'tool-result', id, name: part.name, content, isError: true }
}

/** Reports results out of place: they belong in tool messages directly after the call, in the order of the calls. */
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
