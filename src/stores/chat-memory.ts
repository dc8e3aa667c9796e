/** Remembers the last turns of a conversation, in order. */

import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { problemIn } from '../core/part.ts'
import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import { createId } from '../core/id.ts'
import type { JsonObject } from '../core/json.ts'
import { toMessages } from '../core/message.ts'
import type { Message, MessageInput, MessageLike } from '../core/message.ts'
import type { Part } from '../core/part.ts'
import type { Chunk, DocumentInput, DocumentStore, ScoredChunk, SearchOptions } from '../core/store.ts'
import { isRecord } from '../util/check.ts'
import { namesOf } from '../util/nearest.ts'
import { visibleText } from '../util/terminal.ts'
import { checkedSearch, checkOptionNames, givenDocuments } from './options.ts'
import { chunkTest } from './rank/filter.ts'
import { toDocument } from './sqlite/documents.ts'

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
const WORD = /[\p{L}\p{N}]+/gu
/** Parts that are kept of a message; thinking and what only a provider understands end with the answer. */
const KEPT: ReadonlySet<Part['type']> = new Set(['text', 'image', 'file', 'tool-call', 'tool-result'])
const FORMAT = 'cria-chat-memory'

/**
 * Keeps a conversation in this process; `save` and `load` keep it in a file.
 *
 * A turn is what the user says up to the next answer, and that answer with its tool calls and their results; a document that is appended is a turn
 * of its own. `retrieve` does not look at the query: it gives the last turns, oldest first, at most `nResults` messages. A turn is given whole or
 * not at all, unless the newest alone has more messages than that; then its last ones are given. `search` looks for words, best first.
 */
export class ChatMemory implements DocumentStore {
  readonly name: string
  readonly #maxTurns: number
  readonly #maxChars: number
  #turns: Chunk[][] = []

  /** @throws ConfigurationError when a limit is not a positive whole number. */
  constructor(options: ChatMemoryOptions = {}) {
    checkOptionNames('ChatMemory', options, OPTIONS)
    this.name = options.name ?? 'chat'
    this.#maxTurns = limit('maxTurns', options.maxTurns)
    this.#maxChars = limit('maxChars', options.maxChars)
  }

  /**
   * Reads what `save` has written.
   *
   * @throws CriaError `not_found` when there is no such file; ConfigurationError when it holds something else.
   */
  static async load(path: string, options: ChatMemoryOptions = {}): Promise<ChatMemory> {
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw new CriaError('not_found', `The chat memory ${path} cannot be read: ${toCriaError(cause).message}`, { cause })
    })
    const { name, turns } = saved(text, path)
    const memory = new ChatMemory({ name, ...options })
    for (const turn of turns) memory.#addTurn(...turn)
    return memory
  }

  /**
   * Writes the conversation to a file, as JSON and as a whole: a crash leaves the file as it was. Its owner alone can read it.
   *
   * @throws CriaError `store_failed` when it cannot be written.
   */
  async save(path: string): Promise<void> {
    const temporary = `${path}.${createId('new')}.tmp`
    const content = JSON.stringify({ format: FORMAT, version: 1, name: this.name, turns: this.#turns })
    try {
      await writeFile(temporary, content, { mode: 0o600, flag: 'wx', flush: true })
      await rename(temporary, path)
    } catch (cause) {
      await rm(temporary, { force: true })
      throw new CriaError('store_failed', `The chat memory cannot be saved to ${path}: ${toCriaError(cause).message}`, { cause })
    }
  }

  /**
   * Begins a thread: another memory that holds the same turns, or the first `turns` of them. What is said in one is not heard in the other.
   *
   * @param options `turns` to keep from the beginning, default all; the others default to those of this memory.
   */
  fork({ turns, ...options }: ChatMemoryOptions & { readonly turns?: number } = {}): ChatMemory {
    if (turns !== undefined && !(Number.isInteger(turns) && turns >= 0))
      throw new ConfigurationError(`turns must be a whole number of at least 0, but is ${String(turns)}.`)
    const limits = {
      ...(this.#maxTurns === Infinity ? {} : { maxTurns: this.#maxTurns }),
      ...(this.#maxChars === Infinity ? {} : { maxChars: this.#maxChars }),
    }
    const thread = new ChatMemory({ name: this.name, ...limits, ...options })
    for (const turn of this.#turns.slice(0, turns)) thread.#addTurn(...turn)
    return thread
  }

  /** The conversation for people to read: a heading for each message; images, files and tool calls as a line that names them. */
  toMarkdown(): string {
    const sections = this.#turns.flat().map(({ spokenBy, source, text, parts }) => {
      const heading = spokenBy === undefined ? `Note: ${source}` : HEADINGS[spokenBy]
      const lines = parts === undefined ? [text] : parts.map(lineOf)
      // A message cannot pass for the heading of another one.
      return `## ${heading.replaceAll('\n', ' ')}\n\n${lines.join('\n\n').replaceAll(/^(?= {0,3}#{1,2}(?:\s|$))/gm, '\\')}\n`
    })
    return visibleText(sections.join('\n'))
  }

  /**
   * Keeps a message as something that its role said: its text, images, files, tool calls and their results. Messages of other roles than user,
   * assistant and tool, and those that say nothing, are left out.
   */
  appendMessage(message: Message): Promise<void> {
    const { role, content } = message
    const parts = message.parts.filter(({ type }) => KEPT.has(type))
    const isSaid = parts.some((part) => part.type !== 'text' || part.text.trim() !== '')
    if ((role !== 'user' && role !== 'assistant' && role !== 'tool') || !isSaid) return Promise.resolve()
    const isText = parts.every((part) => part.type === 'text' && part.providerData === undefined)
    const chunk = { ...chunkOf(`message:${message.id}`, content, { role }), spokenBy: role, ...(isText ? {} : { parts }) }
    const last = this.#turns.at(-1)
    const continues = last?.[0]?.spokenBy !== undefined && !(role === 'user' && last.at(-1)?.spokenBy !== 'user')
    if (continues) last.push(chunk)
    else this.#addTurn(chunk)
    return Promise.resolve()
  }

  /**
   * Keeps documents and messages, in this order. A text or `{ source, text }` is a document; `user('…')`, `assistant('…')` and what has a `role` is a
   * message; a list is all that it holds.
   *
   * @throws ConfigurationError, CriaError `invalid_request` for anything else.
   */
  async append(...given: (DocumentInput | MessageLike | Message | readonly (MessageLike | Message)[])[]): Promise<void> {
    for (const each of given) {
      if (typeof each === 'object' && each !== null && (Array.isArray(each) || 'role' in each))
        for (const message of toMessages(each as MessageInput)) await this.appendMessage(message)
      else this.#appendDocument(each as DocumentInput)
    }
  }

  #appendDocument(document: DocumentInput): void {
    const { source, text, title, metadata } =
      typeof document === 'string'
        ? { source: createId('note'), text: document, title: undefined, metadata: undefined }
        : toDocument(document)
    this.#remove(source)
    if (text.trim() !== '') this.#addTurn({ ...chunkOf(source, text, metadata ?? {}), ...(title === undefined ? {} : { title }) })
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

  async search(query: string, options: SearchOptions = {}): Promise<ScoredChunk[]> {
    const { limit, filter } = checkedSearch(query, options)
    const candidates = this.#turns
      .flat()
      .filter(chunkTest(filter))
      .map((chunk) => ({ chunk, words: new Set(words(chunk.text)) }))
    const weights = new Map<string, number>()
    for (const word of new Set(words(query))) {
      const frequency = candidates.filter((candidate) => candidate.words.has(word)).length
      if (frequency > 0) weights.set(word, Math.log(1 + candidates.length / frequency))
    }
    const scored = candidates.flatMap(({ chunk, words }) => {
      let score = 0
      for (const [word, weight] of weights) if (words.has(word)) score += weight
      return score === 0 ? [] : [{ ...chunk, score }]
    })
    // Of equal score the newer one comes first.
    return scored
      .toReversed()
      .toSorted((a, b) => b.score - a.score)
      .slice(0, Math.max(0, limit))
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

  #addTurn(...turn: Chunk[]): void {
    this.#turns.push(turn)
    if (this.#turns.length > this.#maxTurns) this.#turns.shift()
  }

  #remove(source: string): boolean {
    const turns = this.#turns.map((turn) => turn.filter((chunk) => chunk.source !== source))
    const found = turns.some((turn, index) => turn.length !== this.#turns[index]?.length)
    if (found) this.#turns = turns.filter((turn) => turn.length > 0)
    return found
  }
}

const HEADINGS = { user: 'User', assistant: 'Assistant', tool: 'Tool' } as const

/** A part in Markdown. */
function lineOf(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'tool-call':
      return `Calls \`${part.name}\` with \`${JSON.stringify(part.input)}\``
    case 'tool-result':
      return `\`${part.name}\` ${part.isError ? 'failed' : 'returned'}:\n\n${part.content}`
    case 'image':
    case 'file':
      return `[${'filename' in part ? `${part.filename}, ` : ''}${part.mediaType}]`
    default:
      return ''
  }
}

interface Saved {
  readonly name: string
  readonly turns: readonly Chunk[][]
}

/** @throws ConfigurationError when the text is not that of a saved memory. */
function saved(text: string, path: string): Saved {
  const refuse = (what: string): never => {
    throw new ConfigurationError(`${path} cannot be loaded: it holds ${what}.`, {
      hint: 'Name a file that `save()` of a ChatMemory has written.',
    })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('no chat memory')
  }
  if (!isRecord(value) || value['format'] !== FORMAT) return refuse('no chat memory')
  const { version, name, turns } = value
  if (version !== 1) return refuse(`version ${JSON.stringify(version)} of the format, and this release reads version 1`)
  const isWhole =
    typeof name === 'string' && Array.isArray(turns) && turns.every((turn) => Array.isArray(turn) && turn.length > 0)
  return isWhole && turns.flat().every(isChunk) ? { name, turns } : refuse('a chat memory that is damaged')
}

function isChunk(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { id, source, text, spokenBy, parts, metadata } = value
  const isSpoken = spokenBy === undefined || (typeof spokenBy === 'string' && Object.hasOwn(HEADINGS, spokenBy))
  const isText = [id, source, text].every((member) => typeof member === 'string') && isRecord(metadata)
  return (
    isText && isSpoken && (parts === undefined || (Array.isArray(parts) && parts.every((part) => problemIn(part) === undefined)))
  )
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
