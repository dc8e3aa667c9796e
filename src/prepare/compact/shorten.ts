/** Shortens answered tool output to beginning and end, and cuts the middle of other texts. */

import { fromParts } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { ToolResultPart } from '../../core/part.ts'

/** Characters to keep of a long output. */
export const OUTLINE_CHARS = 1000
/** Share of the kept characters for the beginning; the end, with the outcome, gets the rest. */
const HEAD_SHARE = 0.7
/** Minimum number of characters to cut, since the note takes some itself. */
const WORTHWHILE = 200

/** Cuts each tool output of a message to about `chars` characters; returns the same message if none is longer. */
export function shortened(message: Message, chars: number = OUTLINE_CHARS): Message {
  if (message.role !== 'tool' || !message.parts.some((part) => part.type === 'tool-result' && isLong(part, chars))) return message
  const parts = message.parts.map((part) => (part.type === 'tool-result' && isLong(part, chars) ? outline(part, chars) : part))
  return fromParts('tool', parts, message)
}

/** Cuts the text of a user message to about `chars` characters; returns the same message if it is not longer. */
export function withoutMiddle(message: Message, chars: number): Message {
  const all = textLength(message)
  const parts = message.parts.map((part) => {
    if (part.type !== 'text') return part
    const share = Math.floor((chars * part.text.length) / all)
    return part.text.length > share + WORTHWHILE ? { ...part, text: cutText(part.text, share, OF_MESSAGE) } : part
  })
  return parts.every((part, at) => part === message.parts[at]) ? message : fromParts(message.role, parts, message)
}

export function textLength({ parts }: Message): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
}

const OF_MESSAGE = (left: number): string => `[… ${left} characters of this message were left out to make room …]`
const LEFT_OUT = /\n\[… (\d+) characters of this message were left out to make room …\]\n/

const OF_OUTPUT = (left: number): string =>
  `[… ${left} characters were left out to make room; call the tool again if you need them …]`

function cutText(text: string, chars: number, note: (left: number) => string): string {
  const head = Math.round(chars * HEAD_SHARE)
  const tail = text.length - (chars - head)
  // The note of an earlier cut is in the middle, which is removed now.
  const [mark = '', before = '0'] = LEFT_OUT.exec(text.slice(head, tail)) ?? []
  const left = tail - head - mark.length + Number(before)
  return `${text.slice(0, head).toWellFormed()}\n${note(left)}\n${text.slice(tail).toWellFormed()}`
}

function isLong({ content, attachments }: ToolResultPart, chars: number): boolean {
  return content.length > chars + WORTHWHILE || attachments !== undefined
}

function outline({ attachments, content, ...part }: ToolResultPart, chars: number): ToolResultPart {
  const notes: string[] = []
  const text = content.length > chars + WORTHWHILE ? cutText(content, chars, OF_OUTPUT) : content
  if (attachments !== undefined) notes.push(`[${attachments.length} attached files were left out to make room.]`)
  return { ...part, content: [text, ...notes].join('\n') }
}
