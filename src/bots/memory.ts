/** Keeps turns in the memory of a bot. */

import type { QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { MemoryStore } from '../core/store.ts'

/** A memory that keeps messages as messages, such as `ChatMemory`. */
interface MessageMemory extends MemoryStore {
  appendMessage(message: Message): Promise<void>
}

/** SimpleBot keeps the last user message and the answer: as messages where the memory can, else as documents. */
export async function remember(memory: MemoryStore, question: Message | undefined, answer: Message): Promise<void> {
  for (const message of [question, answer]) {
    if (message === undefined) continue
    const text = textOf(message)
    if (text === '') continue
    if (keepsMessages(memory)) await memory.appendMessage(message)
    else await memory.append({ source: `message:${message.id}`, text, metadata: { role: message.role } })
  }
}

/** The message in words, its tool calls, images and files too; empty when it says nothing. */
function textOf({ parts }: Message): string {
  const lines = parts.flatMap((part) => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [part.text]
    if (part.type === 'tool-call') return [`Called ${part.name}(${JSON.stringify(part.input)}).`]
    return part.type === 'image' || part.type === 'file' ? [`[${part.mediaType}]`] : []
  })
  return lines.join('\n')
}

/** QueryBot keeps its answer as a document, with question, time and sources as metadata. */
export async function rememberAnswer(
  memory: MemoryStore,
  question: Message | undefined,
  answer: Message,
  result: QueryResult,
): Promise<void> {
  // That the documents did not hold an answer is nothing to be found later.
  if (answer.content === '' || result.abstained === true) return
  const sources = [...new Set((result.citations ?? []).map((citation) => citation.chunkId).filter((id) => id !== ''))]
  await memory.append({
    source: `turn:${result.turnId}`,
    text: answer.content,
    metadata: { question: question?.content ?? '', at: new Date().toISOString(), sources, sessionId: result.sessionId },
  })
}

/** Whether the memory is a conversation, which decides itself how much of it is sent. */
export function keepsMessages(memory: MemoryStore): memory is MessageMemory {
  return 'appendMessage' in memory && typeof memory.appendMessage === 'function'
}
