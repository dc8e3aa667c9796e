/** Takes secrets out of what tools were asked and what they answered, before it is stored or shown. The tool and the model get it as it is. */

import type { QueryEvent } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { Part } from '../core/part.ts'
import type { JournalEntry } from '../core/recorder.ts'
import { takenValues } from '../util/environment.ts'
import { redact, redactJson } from '../util/redact.ts'

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
    default:
      return event
  }
}

function maskedMessage(message: Message, secrets: Secrets): Message {
  if (!message.parts.some(({ type }) => type === 'tool-call' || type === 'tool-result')) return message
  const parts = message.parts.map((part) => maskedPart(part, secrets))
  const toolCalls = message.toolCalls?.map((call) => ({ ...call, input: redactJson(call.input, secrets) }))
  // What a tool said stands in the content as well.
  const content = message.role === 'tool' ? redact(message.content, secrets) : message.content
  return { ...message, content, parts, ...(toolCalls === undefined ? {} : { toolCalls }) }
}

function maskedPart(part: Part, secrets: Secrets): Part {
  if (part.type === 'tool-call') return { ...part, input: redactJson(part.input, secrets) }
  return part.type === 'tool-result' ? { ...part, content: redact(part.content, secrets) } : part
}
