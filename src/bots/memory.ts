/** Saves turns in the memory of a bot. */

import type { QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { MemoryStore } from '../core/store.ts'

/** A memory that stores messages, not documents, such as `ChatMemory`. */
interface MessageMemory extends MemoryStore {
  appendMessage(message: Message): Promise<void>
}

/** Saves the last user message and the answer for SimpleBot: as messages if the memory supports it, else as documents. */
export async function remember(memory: MemoryStore, question: Message | undefined, answer: Message): Promise<void> {
  for (const message of [question, answer]) {
    if (message === undefined) continue
    const text = textOf(message)
    if (text === '') continue
    if (keepsMessages(memory)) await memory.appendMessage(message)
    else await memory.append({ source: `message:${message.id}`, text, metadata: { role: message.role } })
  }
}

/** Returns a message as text, including tool calls, images and files; empty for a message without content. */
function textOf({ parts }: Message): string {
  const lines = parts.flatMap((part) => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [part.text]
    if (part.type === 'tool-call') return [`Called ${part.name}(${JSON.stringify(part.input)}).`]
    return part.type === 'image' || part.type === 'file' ? [`[${part.mediaType}]`] : []
  })
  return lines.join('\n')
}

/** Saves an answer of QueryBot as a document, with question, time and sources as metadata. */
export async function rememberAnswer(
  memory: MemoryStore,
  question: Message | undefined,
  answer: Message,
  result: QueryResult,
): Promise<void> {
  // Abstentions are not worth finding later.
  if (answer.content === '' || result.abstained === true) return
  const sources = [...new Set((result.citations ?? []).map((citation) => citation.chunkId).filter((id) => id !== ''))]
  await memory.append({
    source: `turn:${result.turnId}`,
    text: answer.content,
    metadata: { question: question?.content ?? '', at: new Date().toISOString(), sources, sessionId: result.sessionId },
  })
}

/** Returns whether the memory stores messages; such a memory decides itself how many are sent. */
export function keepsMessages(memory: MemoryStore): memory is MessageMemory {
  return 'appendMessage' in memory && typeof memory.appendMessage === 'function'
}
