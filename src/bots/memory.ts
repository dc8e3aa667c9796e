/** Writes questions and answers to the memory of a bot. */

import type { QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { DocumentStore } from '../core/store.ts'

/** A memory that keeps messages as messages, such as `ChatMemory`. */
interface MessageMemory extends DocumentStore {
  appendMessage(message: Message): Promise<void>
}

/** SimpleBot keeps the last user message and the answer. */
export async function remember(memory: DocumentStore, question: Message | undefined, answer: Message): Promise<void> {
  for (const message of [question, answer]) {
    if (message === undefined || message.content === '') continue
    if (keepsMessages(memory)) await memory.appendMessage(message)
    else await memory.append({ source: `message:${message.id}`, text: message.content, metadata: { role: message.role } })
  }
}

/** QueryBot keeps its answer as a document, with the question and the sources as metadata. */
export async function rememberAnswer(
  memory: DocumentStore,
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

/** Whether the memory is a conversation, which knows itself how much of it is to be told. */
export function keepsMessages(memory: DocumentStore): memory is MessageMemory {
  return 'appendMessage' in memory && typeof memory.appendMessage === 'function'
}
