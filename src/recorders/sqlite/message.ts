/**
 * Stores content that turns share: messages, once per content, and prompts, once per version. Members that belong to one use of a message stay
 * with the turn that used it: its id, and for retrieved text the marker and the score, since the same passage may answer many questions.
 */

import { hash } from 'node:crypto'
import { messageId } from '../../core/id.ts'
import { textOf } from '../../core/message.ts'
import type { Message, Retrieved } from '../../core/message.ts'
import type { PromptRef, TurnOpen } from '../../core/recorder.ts'
import type { ScoredChunk } from '../../core/store.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { promptsMadeWith } from '../rules.ts'
import { compactedTo } from '../unfinished.ts'
import { columnsOf, insertInto, jsonOrNull, readRow, readRows, wellFormedJson } from './columns.ts'
import type { Damage } from './columns.ts'

/** Members of retrieved text that belong to the question, not to the text. */
export type MessageUse = Pick<Retrieved, 'marker'> & Pick<ScoredChunk, 'score' | 'evidence'>

type Body = Omit<Message, 'id' | 'content' | 'toolCalls' | 'retrieved' | 'prompt'> & {
  /** Absent where it equals the text of the parts. */
  readonly content?: string
  readonly retrieved?: RetrievedBody
}

type RetrievedBody = Omit<Retrieved, 'marker' | 'chunk'> & {
  /** Its text is absent where it equals the content of the message. */
  readonly chunk: Omit<ScoredChunk, 'score' | 'evidence' | 'text'> & { readonly text?: string }
}

/** Returns the body as JSON; equal content yields equal JSON, because members have a fixed order. */
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

/** Stores a message unless one with the same content exists; returns its key. */
function storeMessage(connection: Connection, message: Message): number {
  const body = encodeMessage(message)
  const key = hash('sha256', body, 'buffer')
  const known = connection.get<{ id: number }>('SELECT id FROM messages WHERE hash = ?', [key])
  return known?.id ?? insertInto(connection, 'messages', { hash: key, role: message.role, body })
}

/** Stores a message of a turn, as part of the caller's transaction. @returns the key of the message. */
export function addMessage(connection: Connection, turn: number, position: number, step: number, message: Message): number {
  const key = storeMessage(connection, message)
  connection.run('INSERT INTO turn_messages (turn, position, step, message_id, message, use) VALUES (?, ?, ?, ?, ?, ?)', [
    turn,
    position,
    step,
    message.id,
    key,
    jsonOrNull(useOf(message)),
  ])
  return key
}

/** A stored message of a turn. */
export interface StoredMessage {
  readonly messageId: string
  readonly use: string | null
  readonly body: string
}

/** Returns the readable messages of these rows. */
export function toMessages(rows: readonly StoredMessage[], damage: Damage): Message[] {
  return readRows(
    rows,
    damage,
    ({ messageId: id }) => `message ${id}`,
    ({ messageId: id, body, use }) => decodeMessage(id, body, use === null ? undefined : (JSON.parse(use) as MessageUse)),
  )
}

export function messagesOf(connection: Connection, turn: number, damage: Damage): Message[] {
  const rows = readRow('the list of its messages', damage, () =>
    connection.all<StoredMessage>(
      `SELECT ${columnsOf('messageId use body')}
       FROM turn_messages JOIN messages ON messages.id = message WHERE turn = ? ORDER BY position`,
      [turn],
    ),
  )
  return toMessages(rows ?? [], damage)
}

/** Returns a function that reads the texts of messages, each once. */
export function textReader(connection: Connection): (message: number) => string {
  const texts = new Map<number, string>()
  return (message) => {
    let text = texts.get(message)
    if (text === undefined) {
      const row = connection.get<{ body: string }>('SELECT body FROM messages WHERE id = ?', [message])
      text = decodeMessage('', row?.body ?? '').content
      texts.set(message, text)
    }
    return text
  }
}

/**
 * Stores the compacted conversation for later turns, as part of the caller's transaction.
 *
 * @param position of the turn's next message.
 */
export function storeCompaction(connection: Connection, turn: number, position: number, messages: readonly Message[]): void {
  connection.run('DELETE FROM compacted_messages WHERE turn = ?', [turn])
  connection.run(
    'INSERT INTO compactions (turn, position) VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
    [turn, position],
  )
  for (const [index, message] of messages.entries()) {
    const stored = { messageId: message.id, message: storeMessage(connection, message) }
    insertInto(connection, 'compacted_messages', { turn, position: index, ...stored })
  }
}

/** Reads a compacted conversation; empty where the turn compacted nothing. */
export function readCompaction(connection: Connection, turn: number): readonly Message[] {
  const rows = connection.all<StoredMessage>(
    `SELECT ${columnsOf('messageId body')}, NULL AS use
     FROM compacted_messages JOIN messages ON messages.id = message WHERE turn = ? ORDER BY position`,
    [turn],
  )
  const messages = rows.map(({ messageId: id, body }) => decodeMessage(id, body))
  const own = connection.all<Pick<Message, 'id' | 'role'>>(
    'SELECT message_id AS id, role FROM turn_messages JOIN messages ON messages.id = message WHERE turn = ?',
    [turn],
  )
  return compactedTo(messages, own)
}

/** Numbers new prompt versions, and links the turn to the versions it uses. @param key of the row of the turn. */
export function notePrompts(connection: Connection, key: number, turn: TurnOpen): void {
  for (const { name, hash, template } of promptsMadeWith(turn)) {
    const bot = name.toWellFormed()
    const text = template?.toWellFormed() ?? null
    const find = 'SELECT template IS NOT NULL AS hasText FROM prompts WHERE bot = ? AND hash = ?'
    const known = connection.get<{ hasText: number }>(find, [bot, hash])
    if (known === undefined) {
      connection.run(
        `INSERT INTO prompts (bot, hash, template, version, first_used_at)
         VALUES (?, ?, ?, 1 + coalesce((SELECT max(version) FROM prompts WHERE bot = ?), 0), ?)`,
        [bot, hash, text, bot, turn.startedAt],
      )
    } else if (known.hasText === 0 && text !== null) {
      connection.run('UPDATE prompts SET template = ? WHERE bot = ? AND hash = ?', [text, bot, hash])
    }
    connection.run('INSERT OR IGNORE INTO turn_prompts (turn, name, hash) VALUES (?, ?, ?)', [key, bot, hash])
  }
}

/** Returns the prompt versions of a turn. @param key of the row of the turn. */
export function promptsOf(connection: Connection, key: number): { readonly prompts?: readonly PromptRef[] } {
  const rows = connection.all<PromptRef>(
    `SELECT name, turn_prompts.hash AS hash, version FROM turn_prompts
     JOIN prompts ON prompts.bot = name AND prompts.hash = turn_prompts.hash WHERE turn = ? ORDER BY name, version`,
    [key],
  )
  return rows.length === 0 ? {} : { prompts: rows.map((row) => ({ ...row })) }
}

/**
 * Removes prompt versions that no turn uses.
 *
 * @param all also removes the newest version of a name. Otherwise that stays, without its template, so that numbering continues.
 */
export function removeUnusedPrompts(connection: Connection, all: boolean): void {
  const unused = 'NOT EXISTS (SELECT 1 FROM turn_prompts WHERE name = bot AND turn_prompts.hash = prompts.hash)'
  const older = '(bot, version) NOT IN (SELECT bot, max(version) FROM prompts GROUP BY bot)'
  connection.run(`DELETE FROM prompts WHERE ${unused}${all ? '' : ` AND ${older}`}`)
  connection.run(`UPDATE prompts SET template = NULL WHERE ${unused} AND template IS NOT NULL`)
}
