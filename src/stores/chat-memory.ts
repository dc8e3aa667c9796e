/** Keeps the latest turns of a conversation as a document store, and saves them to a file. */

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
  /** Maximum number of turns to keep; older turns are dropped. Default: all. */
  readonly maxTurns?: number
  /** Maximum number of UTF-16 units that `retrieve` returns, newest turns first. Default: no limit. */
  readonly maxChars?: number
}

const OPTIONS = namesOf<ChatMemoryOptions>({ name: true, maxTurns: true, maxChars: true })
const WORD = /[\p{L}\p{N}]+/gu
/** Part types that are kept. Thinking and provider-specific parts are dropped when the answer ends. */
const KEPT: ReadonlySet<Part['type']> = new Set(['text', 'image', 'file', 'tool-call', 'tool-result'])
const FORMAT = 'cria-chat-memory'

/**
 * Keeps a conversation in memory; `save` and `load` write it to a file and read it back.
 *
 * A turn is the user messages up to the next answer, and that answer with its tool calls and their results. Each appended document is a turn.
 * `retrieve` ignores the query: it returns the last turns, oldest first, at most `nResults` messages. A turn is returned whole or not at all; only
 * a newest turn with more than `nResults` messages is cut to its last ones. `search` matches words, best first.
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
   * Reads a file that `save` has written.
   *
   * @throws CriaError `not_found` when the file does not exist; ConfigurationError when it is not a saved memory.
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
   * Writes the conversation to a file as JSON. The file is replaced atomically, so that a crash leaves the old one; only its owner can read it.
   *
   * @throws CriaError `store_failed` when the file cannot be written.
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
   * Copies the turns, or the first `turns` of them, into a new memory. Later messages of one memory do not appear in the other.
   *
   * @param options `turns` to keep from the beginning, default all; the other options default to those of this memory.
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

  /** Returns the conversation as Markdown: one heading per message; images, files and tool calls become a line that names them. */
  toMarkdown(): string {
    const sections = this.#turns.flat().map(({ spokenBy, source, text, parts }) => {
      const heading = spokenBy === undefined ? `Note: ${source}` : HEADINGS[spokenBy]
      const lines = parts === undefined ? [text] : parts.map(lineOf)
      // Escapes headings, so that the text of a message cannot imitate the heading of another.
      return `## ${heading.replaceAll('\n', ' ')}\n\n${lines.join('\n\n').replaceAll(/^(?= {0,3}#{1,2}(?:\s|$))/gm, '\\')}\n`
    })
    return visibleText(sections.join('\n'))
  }

  /**
   * Appends a user, assistant or tool message: its text, images, files, tool calls and their results. Messages with other roles, and empty ones, are
   * ignored.
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
   * Appends documents and messages in the given order. A string or `{ source, text }` is a document; `user('…')`, `assistant('…')` and objects
   * with a `role` are messages; a list is appended element by element.
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

  /** Appends several documents, in order. */
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
    // Newer chunks score higher, so that callers who drop chunks by score drop the oldest.
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
    // Of chunks with equal scores the newer comes first.
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

  /** Does nothing: there is no resource to release, and the turns stay. */
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

/** Formats a part as Markdown. */
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

/** @throws ConfigurationError when the text is not a saved memory. */
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
    return refuse('something other than a chat memory')
  }
  if (!isRecord(value) || value['format'] !== FORMAT) return refuse('something other than a chat memory')
  const { version, name, turns } = value
  if (version !== 1) return refuse(`version ${JSON.stringify(version)} of the format, and this release reads version 1`)
  const isWhole =
    typeof name === 'string' && Array.isArray(turns) && turns.every((turn) => Array.isArray(turn) && turn.length > 0)
  return isWhole && turns.flat().every(isChunk) ? { name, turns } : refuse('a damaged chat memory')
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
