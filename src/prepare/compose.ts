/** What a model is sent, and in which order: system prompt, history, retrieved passages, question. */

import { fromParts, retrieved, system as systemMessage } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Grounding } from '../core/model.ts'
import type { ScoredChunk } from '../core/store.ts'
import { fenced } from './fence.ts'
import { GROUNDING_RULES } from './grounding.ts'
import { NOTHING_INJECTED } from './inject.ts'
import type { Injection } from './inject.ts'
import { estimateTokens } from './tokens.ts'

/** A composed turn: `messages` is what is logged, `processedMessages` what is sent. */
export interface Composition {
  readonly messages: readonly Message[]
  readonly processedMessages: readonly Message[]
  readonly grounding?: Grounding
}

export interface Found {
  readonly store: string
  readonly chunks: readonly ScoredChunk[]
}

export interface RagInput {
  readonly system: string
  readonly history: readonly Message[]
  /** The message that holds the question; it stays the last one. */
  readonly question: Message
  readonly documents: Found
  readonly memories?: Found
  readonly injection?: Injection
  /** Tokens that the passages may take together; `null` when the context window is unknown. */
  readonly passageTokens: number | null
}

export interface RagComposition extends Composition {
  readonly grounding: Grounding
  readonly documentsSent: number
  readonly memoriesSent: number
  readonly dropped: number
}

/** System prompt, history, document passages, memories, question: the order of a retrieval turn. */
export function composeRag(input: RagInput): RagComposition {
  const documents = distinct(input.documents.chunks, new Set())
  const memories = distinct(input.memories?.chunks ?? [], new Set(documents.map((chunk) => chunk.id)))
  const kept = fitting(documents, memories, input.passageTokens)

  let number = 0
  const asMessages = (chunks: readonly ScoredChunk[], origin: 'docstore' | 'memory', store: string): Message[] =>
    chunks.map((chunk) => retrieved({ marker: String(++number), origin, store, chunk }))
  const documentMessages = asMessages(kept.documents, 'docstore', input.documents.store)
  const memoryMessages = asMessages(kept.memories, 'memory', input.memories?.store ?? '')

  const passages = [...documentMessages, ...memoryMessages]
  const { instructions, before, after } = input.injection ?? NOTHING_INJECTED
  const spoken = [...before, ...input.history, ...after, ...passages]
  const weights = documents[0]?.evidence?.weights ?? {}
  return {
    messages: [...systemOf(input.system), ...instructions, ...spoken, input.question],
    processedMessages: [
      ...systemOf(joined(input.system, GROUNDING_RULES, ...textsOf(instructions))),
      ...spoken.map(fenced),
      input.question,
    ],
    grounding: {
      question: input.question.content,
      passages: passages.flatMap((message) => message.retrieved ?? []),
      weights,
    },
    documentsSent: kept.documents.length,
    memoriesSent: kept.memories.length,
    dropped: documents.length + memories.length - passages.length,
  }
}

export interface ChatInput {
  readonly system: string
  readonly history: readonly Message[]
  readonly memories?: Found
  readonly injection?: Injection
  /** What the user says now; where that is nothing, what is new in the turn stands before the conversation. */
  readonly input: readonly Message[]
}

/** System prompt, what the memory holds, what the user says: the order of a conversation. */
export function composeChat(chat: ChatInput): Composition {
  let number = 0
  const memories = (chat.memories?.chunks ?? []).map((chunk) =>
    chunk.spokenBy === undefined
      ? retrieved({ marker: String(++number), origin: 'memory', store: chat.memories?.store ?? '', chunk })
      : fromParts(chunk.spokenBy, [{ type: 'text', text: chunk.text }]),
  )
  const { instructions, before, after } = chat.injection ?? NOTHING_INJECTED
  const history = chat.input.length === 0 ? [...after, ...chat.history] : [...chat.history, ...after]
  const spoken = [...before, ...history, ...memories, ...chat.input]
  return {
    messages: [...systemOf(chat.system), ...instructions, ...spoken],
    processedMessages: [...systemOf(joined(chat.system, ...textsOf(instructions))), ...spoken.map(fenced)],
  }
}

/** One system prompt for all: some models take no second one. */
function textsOf(instructions: readonly Message[]): string[] {
  return instructions.map((message) => fenced(message).content)
}

function systemOf(text: string): Message[] {
  return text === '' ? [] : [systemMessage(text)]
}

function joined(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** Without chunks that were there before, by id; the first one, which is the best, stays. */
function distinct(chunks: readonly ScoredChunk[], seen: Set<string>): ScoredChunk[] {
  return chunks.filter((chunk) => {
    if (seen.has(chunk.id)) return false
    seen.add(chunk.id)
    return true
  })
}

/** Keeps by rank until the room is used up; of equal rank, the document goes before the memory. */
function fitting(
  documents: readonly ScoredChunk[],
  memories: readonly ScoredChunk[],
  room: number | null,
): { documents: readonly ScoredChunk[]; memories: readonly ScoredChunk[] } {
  if (room === null) return { documents, memories }
  const kept = { documents: [] as ScoredChunk[], memories: [] as ScoredChunk[] }
  let left = room
  for (let rank = 0; rank < Math.max(documents.length, memories.length); rank++) {
    for (const [list, into] of [
      [documents, kept.documents],
      [memories, kept.memories],
    ] as const) {
      const chunk = list[rank]
      if (chunk === undefined) continue
      left -= estimateTokens(chunk.text) + LABEL_TOKENS
      if (left < 0) return kept
      into.push(chunk)
    }
  }
  return kept
}

/** Tokens of the lines around a passage. */
const LABEL_TOKENS = 60
