/** Messages as the journal keeps them: once by content, with the id in the turn that used them. */

import { hash } from 'node:crypto'
import { messageId } from '../../core/id.ts'
import { textOf } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import type { Connection } from './connection.ts'
import { canonicalJson } from './json.ts'

/** Stores a message unless one with the same content is there, and returns its key. */
export function storeMessage(connection: Connection, message: Message): number {
  const body = encodeMessage(message)
  const key = hash('sha256', body, 'buffer')
  const known = connection.get<{ id: number }>('SELECT id FROM messages WHERE hash = ?', [key])
  return known?.id ?? connection.insert('INSERT INTO messages (hash, role, body) VALUES (?, ?, ?)', [key, message.role, body])
}

/** All of a message but its id; what follows from its parts is left out. */
export function encodeMessage(message: Message): string {
  const { id: _id, content, toolCalls: _toolCalls, ...rest } = message
  return canonicalJson(content === textOf(message.parts) ? rest : { content, ...rest })
}

export function decodeMessage(id: string, body: string): Message {
  const { role, parts, content, ...rest } = JSON.parse(body) as Omit<Message, 'id' | 'content'> & { readonly content?: string }
  const toolCalls = parts.filter((part) => part.type === 'tool-call')
  return {
    id: messageId(id),
    role,
    content: content ?? textOf(parts),
    parts,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...rest,
  }
}
