/** Tool output that has been read and answered is kept in outline. */

import { fromParts } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { ToolResultPart } from '../../core/part.ts'

/** Characters that are left of a long output. */
export const OUTLINE_CHARS = 1000
/** The beginning says what it is, the end how it came out. */
const HEAD_SHARE = 0.7
/** A note takes characters itself. */
const WORTHWHILE = 200

/** The message with each tool output cut to about `chars` characters; itself where none is longer. */
export function shortened(message: Message, chars: number = OUTLINE_CHARS): Message {
  if (message.role !== 'tool' || !message.parts.some((part) => part.type === 'tool-result' && isLong(part, chars))) return message
  const parts = message.parts.map((part) => (part.type === 'tool-result' && isLong(part, chars) ? outline(part, chars) : part))
  return fromParts('tool', parts, message)
}

function isLong({ content, attachments }: ToolResultPart, chars: number): boolean {
  return content.length > chars + WORTHWHILE || attachments !== undefined
}

function outline({ attachments, content, ...part }: ToolResultPart, chars: number): ToolResultPart {
  const notes: string[] = []
  let text = content
  if (content.length > chars + WORTHWHILE) {
    const head = Math.round(chars * HEAD_SHARE)
    const left = content.length - chars
    text = `${content.slice(0, head).toWellFormed()}\n[… ${left} characters were left out to make room; call the tool again if you need them …]\n${content.slice(head + left).toWellFormed()}`
  }
  if (attachments !== undefined) notes.push(`[${attachments.length} attached files were left out to make room.]`)
  return { ...part, content: [text, ...notes].join('\n') }
}
