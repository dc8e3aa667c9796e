/** Prepares the output of stations for the journal: groups it, joins deltas, and removes secrets. */

import type { Yielded } from '../core/context.ts'
import { assertNever } from '../core/event.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { Part } from '../core/part.ts'
import type { JournalEntry } from '../core/recorder.ts'
import { takenValues } from '../util/environment.ts'
import type { Grouping } from '../util/ready.ts'
import { redact, redactJson } from '../util/redact.ts'

/** Events without an immediate effect: later ones of the same tick may be stored together with them. */
const OPEN: ReadonlySet<Yielded['type']> = new Set<Yielded['type']>([
  'usage',
  'message',
  'retrieval',
  'notice',
  'tool_request',
  'permission_decision',
  'tool_result',
])

/**
 * Decides whether a station may continue before this is stored. It may not if the next action requires it to be stored: a tool's effect after
 * `tool_start`, a request after its messages, a question to the user after `permission_request`, the end of a turn. Before the
 * first step it never may, so that each event has the step in which it was yielded.
 */
export function groupingOf(body: Yielded, step: number): Grouping {
  if (body.type === 'text_delta' || body.type === 'thinking' || body.type === 'tool_input_delta') return 'paced'
  // After a message without calls the turn ends: a reader who leaves at its text leaves before that.
  if (body.type === 'message' && body.message.toolCalls === undefined) return 'last'
  return step > 0 && body.type !== 'note' && OPEN.has(body.type) ? 'open' : 'last'
}

/** Joins adjacent deltas of one kind and attempt. */
export function joinDeltas(bodies: readonly Yielded[]): Yielded[] {
  const joined: Yielded[] = []
  for (const body of bodies) {
    const last = joined.at(-1)
    if (body.type === 'text_delta' && last?.type === 'text_delta' && last.attempt === body.attempt) {
      joined[joined.length - 1] = { ...last, text: last.text + body.text }
    } else if (body.type === 'thinking' && last?.type === 'thinking' && last.attempt === body.attempt) {
      joined[joined.length - 1] = { ...last, content: last.content + body.content }
    } else if (body.type === 'tool_input_delta' && last?.type === 'tool_input_delta' && last.id === body.id) {
      joined[joined.length - 1] = { ...last, delta: last.delta + body.delta }
    } else {
      joined.push(body)
    }
  }
  return joined
}

export function withoutSecrets<E extends JournalEntry>(entry: E): E
export function withoutSecrets(entry: JournalEntry): JournalEntry {
  const secrets = takenValues()
  switch (entry.type) {
    case 'event':
      return { ...entry, event: maskedEvent(entry.event, secrets) }
    case 'tool_start':
      return { ...entry, input: JSON.stringify(redactJson(JSON.parse(entry.input), secrets)) }
    default:
      return { ...entry, messages: entry.messages.map((message) => maskedMessage(message, secrets)) }
  }
}

type Secrets = readonly string[]

function maskedEvent(event: QueryEvent, secrets: Secrets): QueryEvent {
  switch (event.type) {
    case 'tool_request':
      return { ...event, tool: { ...event.tool, input: redactJson(event.tool.input, secrets) } }
    case 'permission_request':
      return { ...event, tools: event.tools.map((tool) => ({ ...tool, input: redactJson(tool.input, secrets) })) }
    case 'tool_progress':
      return { ...event, content: redact(event.content, secrets) }
    case 'tool_result':
      return { ...event, result: { ...event.result, content: redact(event.result.content, secrets) } }
    case 'complete': {
      const { waiting } = event.result
      if (waiting === undefined) return event
      const masked = waiting.map((call) => ({ ...call, input: redactJson(call.input, secrets) }))
      return { ...event, result: { ...event.result, waiting: masked } }
    }
    case 'message':
      return { ...event, message: maskedMessage(event.message, secrets) }
    // These hold text of the model or the user and facts of the turn, not input or output of tools.
    case 'start':
    case 'text_delta':
    case 'thinking':
    case 'tool_input_delta':
    case 'usage':
    case 'retrieval':
    case 'compaction':
    case 'retry':
    case 'reset':
    case 'model_switch':
    case 'permission_decision':
    case 'notice':
    case 'steering':
    case 'prepare_step':
    case 'hook':
    case 'feedback':
    case 'error':
    case 'cancelled':
      return event
    default:
      return assertNever(event)
  }
}

function maskedMessage(message: Message, secrets: Secrets): Message {
  if (!message.parts.some(({ type }) => type === 'tool-call' || type === 'tool-result')) return message
  const parts = message.parts.map((part) => maskedPart(part, secrets))
  const toolCalls = message.toolCalls?.map((call) => ({ ...call, input: redactJson(call.input, secrets) }))
  // The output of a tool is in `content`, too.
  const content = message.role === 'tool' ? redact(message.content, secrets) : message.content
  return { ...message, content, parts, ...(toolCalls === undefined ? {} : { toolCalls }) }
}

function maskedPart(part: Part, secrets: Secrets): Part {
  if (part.type === 'tool-call') return { ...part, input: redactJson(part.input, secrets) }
  return part.type === 'tool-result' ? { ...part, content: redact(part.content, secrets) } : part
}
