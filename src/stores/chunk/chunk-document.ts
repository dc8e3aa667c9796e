/** Cuts documents into chunks: a reader for the format yields atoms, which are packed into chunks. */

import { hash } from 'node:crypto'
import { ConfigurationError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Chunk, DocumentFormat, SourceDocument } from '../../core/store.ts'
import { describe, isRecord } from '../../util/check.ts'
import { checkOptionNames } from '../options.ts'
import { definedName } from '../../text/definitions.ts'
import { markdownBlocks } from '../../text/markdown-blocks.ts'
import { lineBreakOf } from '../../util/lines.ts'
import { namesOf } from '../../util/nearest.ts'
import { trimRange } from './atoms.ts'
import type { Atom, Cutting } from './atoms.ts'
import { pack } from './pack.ts'
import type { Passage } from './pack.ts'
import { readCode } from './read-code.ts'
import { readCsv, readJson } from './read-data.ts'
import { readMarkdown } from './read-markdown.ts'
import { readText } from './read-text.ts'

/** Increase it when documents may be cut differently: an index made with another version is rebuilt. */
export const CHUNKER_VERSION = 3

/** Options for cutting documents into chunks. */
export interface ChunkOptions {
  /** Longest chunk in UTF-16 units; default 2,000, at least 64. */
  readonly maxChars?: number
}

/** About 500 tokens of English; measured in docs/decisions/0006-cutting-documents.md. */
const DEFAULT_MAX_CHARS = 2000
const LEAST_MAX_CHARS = 64

type Reader = (cutting: Cutting) => Iterable<Atom>

const READERS: Readonly<Record<DocumentFormat, Reader>> = {
  text: readText,
  markdown: readMarkdown,
  code: readCode,
  json: readJson,
  csv: readCsv,
}

/**
 * Cuts a document into chunks along its structure.
 *
 * Chunks are in text order and do not overlap; `text.slice(chunk.start, chunk.end) === chunk.text`; only white space is left out. A document
 * that fits into one chunk is one chunk, an empty document has none. Time and memory are linear.
 *
 * @throws ConfigurationError when the argument is not a document, or `maxChars` is not a whole number of at least 64.
 */
export function chunkDocument(document: SourceDocument, options: ChunkOptions = {}): Chunk[] {
  checkDocument(document)
  const max = checkChunkOptions(options, 'chunkDocument()')
  const { text } = document
  const lineBreak = lineBreakOf(text)
  const lineAt = counterOf(text, lineBreak)
  const pageAt = text.includes('\f') ? counterOf(text, '\f') : undefined
  const idOf = idsFor(document.source)
  return Array.from(passages(document, max, lineBreak), ({ start, end, path }) => {
    const chunkText = text.slice(start, end)
    return {
      id: idOf(chunkText),
      text: chunkText,
      source: document.source,
      start,
      end,
      ...(document.title === undefined ? {} : { title: document.title }),
      ...(path.length === 0 ? {} : { headings: path }),
      ...namesMember(document.format, chunkText, lineBreak),
      ...(document.extracted === true ? {} : { lines: [lineAt(start), lineAt(end)] as const }),
      metadata: metadataOf(document, pageAt?.(start)),
    }
  })
}

function checkDocument(document: unknown): void {
  const refuse = (what: string): never => {
    throw new ConfigurationError(`chunkDocument() takes a document, { source, text, … }, but ${what}.`)
  }
  if (!isRecord(document)) return refuse(`got ${describe(document)}`)
  const { source, text, format = 'text' }: Partial<Record<keyof SourceDocument, unknown>> = document
  if (typeof text !== 'string') refuse(`its \`text\` is ${describe(text)}`)
  if (typeof source !== 'string') refuse(`its \`source\` is ${describe(source)}`)
  if (typeof format !== 'string' || !Object.hasOwn(READERS, format))
    refuse(`its \`format\` is ${describe(format)}, not one of ${Object.keys(READERS).join(', ')}`)
}

/** @returns the longest chunk. @throws ConfigurationError with the option, the expected value and the actual value. */
export function checkChunkOptions(options: ChunkOptions, owner = '`chunk`'): number {
  checkOptionNames(owner, options, namesOf<ChunkOptions>({ maxChars: true }))
  const { maxChars = DEFAULT_MAX_CHARS } = options
  if (!Number.isInteger(maxChars) || maxChars < LEAST_MAX_CHARS)
    throw new ConfigurationError(`maxChars must be a whole number of at least ${LEAST_MAX_CHARS}, but is ${String(maxChars)}.`)
  return maxChars
}

function passages(document: SourceDocument, max: number, lineBreak: string): Iterable<Passage> {
  const { text } = document
  const whole = trimRange(text, 0, text.length)
  if (whole === undefined) return []
  if (whole.end - whole.start <= max) return [{ ...whole, path: [] }]
  return pack(READERS[document.format ?? 'text']({ text, max, lineBreak }), max)
}

const MOST_NAMES = 50

/** Returns terms that weigh as much as headings, each once: names that a chunk of code defines, and headings inside a chunk of Markdown. */
function namesMember(format: SourceDocument['format'], text: string, lineBreak: string): Pick<Chunk, 'names'> {
  const all = format === 'code' ? definedNames(text) : format === 'markdown' ? headingsIn(text, lineBreak) : []
  const names = new Set<string>()
  for (const name of all) if (names.size < MOST_NAMES) names.add(name)
  return names.size === 0 ? {} : { names: [...names] }
}

function* definedNames(code: string): Generator<string> {
  for (const line of code.split('\n')) {
    const name = definedName(line.trimStart())
    if (name !== undefined) yield name
  }
}

function* headingsIn(markdown: string, lineBreak: string): Generator<string> {
  for (const { kind, title } of markdownBlocks(markdown, 0, markdown.length, lineBreak))
    if (kind === 'heading' && title !== undefined && title !== '') yield title
}

function metadataOf(document: SourceDocument, page: number | undefined): JsonObject {
  const metadata = document.metadata ?? {}
  return page === undefined || 'page' in metadata ? metadata : { ...metadata, page }
}

/** Makes ids from source and text alone, so that insertions elsewhere change no id. Equal texts get a number. */
function idsFor(source: string): (text: string) => string {
  const seen = new Map<string, number>()
  return (text) => {
    const digest = hash('sha256', `${source}\u0000${text}`)
    const occurrence = seen.get(digest) ?? 0
    seen.set(digest, occurrence + 1)
    const unique = occurrence === 0 ? digest : hash('sha256', `${digest}\u0000${occurrence}`)
    return `chunk_${unique.slice(0, 24)}`
  }
}

/** Returns a function that counts a character up to ascending offsets in one pass; the first line or page is 1. */
function counterOf(text: string, character: string): (offset: number) => number {
  let at = 0
  let number = 1
  return (offset) => {
    const part = text.slice(at, offset)
    for (let found = part.indexOf(character); found !== -1; found = part.indexOf(character, found + 1)) number++
    at = offset
    return number
  }
}
