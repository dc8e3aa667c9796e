/**
 * Messages as the journal keeps them: once by content. What holds for one use of a message alone stays with the turn that used it: its
 * id, and of retrieved text its marker and how well it fitted the question; the same passage answers many questions.
 */

import { hash } from 'node:crypto'
import { messageId } from '../../core/id.ts'
import { textOf } from '../../core/message.ts'
import type { Message, Retrieved } from '../../core/message.ts'
import type { ScoredChunk } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { wellFormedJson } from './columns.ts'

/** Of retrieved text, what belongs to the question and not to the text. */
export type MessageUse = Pick<Retrieved, 'marker'> & Pick<ScoredChunk, 'score' | 'evidence'>

type Body = Omit<Message, 'id' | 'content' | 'toolCalls' | 'retrieved' | 'prompt'> & {
  /** Where it is not the text of the parts. */
  readonly content?: string
  readonly retrieved?: RetrievedBody
}

type RetrievedBody = Omit<Retrieved, 'marker' | 'chunk'> & {
  /** Its text is left out where it is the content of the message. */
  readonly chunk: Omit<ScoredChunk, 'score' | 'evidence' | 'text'> & { readonly text?: string }
}

/** Stores a message unless one with the same content is there, and returns its key. */
export function storeMessage(connection: Connection, message: Message): number {
  const body = encodeMessage(message)
  const key = hash('sha256', body, 'buffer')
  const known = connection.get<{ id: number }>('SELECT id FROM messages WHERE hash = ?', [key])
  return known?.id ?? connection.insert('INSERT INTO messages (hash, role, body) VALUES (?, ?, ?)', [key, message.role, body])
}

/** JSON of the body; the same for the same content, because its members are put down in one order. */
export function encodeMessage(message: Message): string {
  const { id: _id, role, content, parts, toolCalls: _toolCalls, retrieved, prompt: _prompt, ...rest } = message
  const body: Body = {
    role,
    ...(content === textOf(parts) ? {} : { content }),
    parts,
    ...(retrieved === undefined ? {} : { retrieved: withoutUse(retrieved, content) }),
    ...rest,
  }
  return wellFormedJson(body)
}

export function useOf({ retrieved }: Message): MessageUse | undefined {
  if (retrieved === undefined) return undefined
  const { score, evidence } = retrieved.chunk
  return { marker: retrieved.marker, score, ...(evidence === undefined ? {} : { evidence }) }
}

export function decodeMessage(id: string, body: string, use?: MessageUse): Message {
  const { role, parts, content = textOf(parts), retrieved, ...rest } = JSON.parse(body) as Body
  const toolCalls = parts.filter((part) => part.type === 'tool-call')
  return {
    id: messageId(id),
    role,
    content,
    parts,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...(retrieved === undefined || use === undefined ? {} : { retrieved: withUse(retrieved, use, content) }),
    ...rest,
  }
}

function withoutUse({ marker: _marker, chunk, ...retrieved }: Retrieved, content: string): RetrievedBody {
  const { score: _score, evidence: _evidence, text, ...passage } = chunk
  return { ...retrieved, chunk: text === content ? passage : { ...passage, text } }
}

function withUse(retrieved: RetrievedBody, { marker, ...fit }: MessageUse, content: string): Retrieved {
  return { marker, ...retrieved, chunk: { text: content, ...retrieved.chunk, ...fit } }
}
