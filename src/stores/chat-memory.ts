/** A memory of what was said: the last turns, in the order in which they were spoken. */

import { ConfigurationError } from '../core/error.ts'
import { checkFilter } from '../core/filter.ts'
import { createId } from '../core/id.ts'
import type { JsonObject } from '../core/json.ts'
import { textOf } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Chunk, DocumentInput, DocumentStore, ScoredChunk, SearchOptions } from '../core/store.ts'
import { givenDocuments } from './given-documents.ts'
import { checkOptionNames } from './option-names.ts'
import { toDocument } from './sqlite/documents.ts'
import { chunkTest } from './rank/filter.ts'
import { namesOf } from '../util/nearest.ts'

/** Options of `new ChatMemory()`. */
export interface ChatMemoryOptions {
  /** Shown in events; default `chat`. */
  readonly name?: string
  /** Turns that are kept; older ones are forgotten. Default: all. */
  readonly maxTurns?: number
  /** UTF-16 units that `retrieve` gives at most, newest turns first. Default: no limit. */
  readonly maxChars?: number
}

const OPTIONS = namesOf<ChatMemoryOptions>({ name: true, maxTurns: true, maxChars: true })
const DEFAULT_LIMIT = 10
const WORD = /[\p{L}\p{N}]+/gu

/**
 * Keeps a conversation in this process.
 *
 * A turn is what the user says up to the next answer, and that answer; a document that is appended is a turn of its own. `retrieve` does
 * not look at the query: it gives the last turns, oldest first, at most `nResults` messages. A turn is given whole or not at all, unless
 * the newest alone has more messages than that; then its last ones are given. `search` looks for words, best first.
 */
export class ChatMemory implements DocumentStore {
  readonly name: string
  readonly #maxTurns: number
  readonly #maxChars: number
  #turns: Chunk[][] = []

  /** @throws ConfigurationError when a limit is no positive whole number. */
  constructor(options: ChatMemoryOptions = {}) {
    checkOptionNames('ChatMemory', options, OPTIONS)
    this.name = options.name ?? 'chat'
    this.#maxTurns = limit('maxTurns', options.maxTurns)
    this.#maxChars = limit('maxChars', options.maxChars)
  }

  /** Keeps a message as something that its role said. Only the text of users and assistants is kept; other messages are left out. */
  appendMessage(message: Message): Promise<void> {
    const { role } = message
    const text = textOf(message.parts)
    if ((role !== 'user' && role !== 'assistant') || text.trim() === '') return Promise.resolve()
    const chunk = { ...chunkOf(`message:${message.id}`, text, { role }), spokenBy: role }
    const last = this.#turns.at(-1)
    const continues =
      last !== undefined && last[0]?.spokenBy !== undefined && !(role === 'user' && last.at(-1)?.spokenBy === 'assistant')
    if (continues) last.push(chunk)
    else this.#addTurn(chunk)
    return Promise.resolve()
  }

  /** Adds a message, or a text that is remembered like one. */
  append(document: DocumentInput): Promise<void> {
    const { source, text, title, metadata } =
      typeof document === 'string'
        ? { source: createId('note'), text: document, title: undefined, metadata: undefined }
        : toDocument(document)
    this.#remove(source)
    if (text.trim() !== '') this.#addTurn({ ...chunkOf(source, text, metadata ?? {}), ...(title === undefined ? {} : { title }) })
    return Promise.resolve()
  }

  /** Adds several, in order. */
  async extend(documents: Iterable<DocumentInput> | AsyncIterable<DocumentInput>): Promise<void> {
    for await (const document of givenDocuments(documents)) await this.append(document)
  }

  retrieve(_query: string, nResults: number): Promise<ScoredChunk[]> {
    const kept: Chunk[][] = []
    let messages = 0
    let chars = 0
    for (const turn of this.#turns.toReversed()) {
      messages += turn.length
      for (const { text } of turn) chars += text.length
      if (chars > this.#maxChars) break
      if (messages > nResults) {
        if (kept.length === 0) kept.push(turn.slice(turn.length - Math.max(0, nResults)))
        break
      }
      kept.push(turn)
    }
    const chunks = kept.toReversed().flat()
    // Newer is better, so that whoever has to drop something by score drops the oldest.
    return Promise.resolve(chunks.map((chunk, index) => ({ ...chunk, score: (index + 1) / chunks.length })))
  }

  search(query: string, options: SearchOptions = {}): Promise<ScoredChunk[]> {
    options.signal?.throwIfAborted()
    checkFilter(options.filter)
    const wanted = new Set(words(query))
    const candidates = this.#turns.flat().filter(chunkTest(options.filter ?? {}))
    const found = candidates.map((chunk) => ({ chunk, words: new Set(words(chunk.text)) }))
    const weights = new Map<string, number>()
    for (const word of wanted) {
      const frequency = found.filter((candidate) => candidate.words.has(word)).length
      if (frequency > 0) weights.set(word, Math.log(1 + found.length / frequency))
    }
    const scored = found.flatMap(({ chunk, words }) => {
      let score = 0
      for (const [word, weight] of weights) if (words.has(word)) score += weight
      return score === 0 ? [] : [{ ...chunk, score }]
    })
    // Of equal score the newer one comes first.
    const ranked = scored.toReversed().toSorted((a, b) => b.score - a.score)
    return Promise.resolve(ranked.slice(0, options.limit ?? DEFAULT_LIMIT))
  }

  delete(source: string): Promise<boolean> {
    return Promise.resolve(this.#remove(source))
  }

  reset(): Promise<void> {
    this.#turns = []
    return Promise.resolve()
  }

  /** Nothing has to be closed; what was said stays. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  #addTurn(chunk: Chunk): void {
    this.#turns.push([chunk])
    if (this.#turns.length > this.#maxTurns) this.#turns.shift()
  }

  #remove(source: string): boolean {
    const turns = this.#turns.map((turn) => turn.filter((chunk) => chunk.source !== source))
    const found = turns.some((turn, index) => turn.length !== this.#turns[index]?.length)
    if (found) this.#turns = turns.filter((turn) => turn.length > 0)
    return found
  }
}

function chunkOf(source: string, text: string, metadata: JsonObject): Chunk {
  return { id: source, text, source, start: 0, end: text.length, metadata }
}

function words(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? []
}

function limit(name: string, value: number | undefined): number {
  if (value === undefined) return Infinity
  if (Number.isInteger(value) && value > 0) return value
  throw new ConfigurationError(`${name} must be a positive whole number, but is ${String(value)}.`)
}
