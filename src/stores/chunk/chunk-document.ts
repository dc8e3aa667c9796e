/** Cuts documents into chunks: a format reader makes atoms, and atoms are packed into chunks. */

import { hash } from 'node:crypto'
import { ConfigurationError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Chunk, DocumentFormat, SourceDocument } from '../../core/store.ts'
import { describe, isRecord } from '../../util/check.ts'
import { checkOptionNames } from '../options.ts'
import type { Atom } from './atom.ts'
import { BORDER, trimRange } from './atom.ts'
import { definedName } from '../../text/definitions.ts'
import { lineBreakOf, linesOf } from '../../util/lines.ts'
import { pack } from './pack.ts'
import type { Passage } from './pack.ts'
import { readCode } from './read-code.ts'
import { readJson } from './read-json.ts'
import { readMarkdown } from './read-markdown.ts'
import { readText } from './read-text.ts'
import { markdownBlocks } from '../../text/markdown-blocks.ts'
import { namesOf } from '../../util/nearest.ts'
import { cellsOf, delimiterOf, headerOf, rowsOf } from '../../text/separated-values.ts'
import type { Delimiter } from '../../text/separated-values.ts'
import { proseAtoms } from './prose.ts'

/** Changes whenever the same document may be cut differently; an index made by another version is made again. */
export const CHUNKER_VERSION = 3

/** How documents are cut into chunks. */
export interface ChunkOptions {
  /** Longest chunk in UTF-16 units; default 2,000, at least 64. */
  readonly maxChars?: number
}

/** About 500 tokens of English; measured in docs/decisions/0006-cutting-documents.md. */
const DEFAULT_MAX_CHARS = 2000
const LEAST_MAX_CHARS = 64

type Reader = (text: string, max: number, lineBreak: string) => Iterable<Atom>

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
 * Chunks stand in the order of the text and do not overlap; `text.slice(chunk.start, chunk.end) === chunk.text`; nothing but white
 * space is left out. A document that fits into one chunk is one chunk, an empty one has none. Time and memory are linear.
 *
 * @throws ConfigurationError when it is given no document, or `maxChars` is no whole number of at least 64.
 */
export function chunkDocument(document: SourceDocument, options: ChunkOptions = {}): Chunk[] {
  checkDocument(document)
  const max = checkChunkOptions(options, 'chunkDocument()')
  const { text } = document
  const lineBreak = lineBreakOf(text)
  const chunks: Chunk[] = []
  const places = new Places(text, lineBreak)
  const ids = new ChunkIds(document.source)
  for (const passage of passages(document, max, lineBreak)) {
    const chunkText = text.slice(passage.start, passage.end)
    const { lines, page } = places.of(passage)
    chunks.push({
      id: ids.of(chunkText),
      text: chunkText,
      source: document.source,
      start: passage.start,
      end: passage.end,
      ...(document.title === undefined ? {} : { title: document.title }),
      ...(passage.path.length === 0 ? {} : { headings: passage.path }),
      ...namesMember(document.format, chunkText, lineBreak),
      ...(document.extracted === true ? {} : { lines }),
      metadata: metadataOf(document, page),
    })
  }
  return chunks
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

/** @returns the longest chunk. @throws ConfigurationError that names the option, what was expected and what came. */
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
  return pack(READERS[document.format ?? 'text'](text, max, lineBreak), max)
}

const MOST_NAMES = 50

/** Terms that weigh as much as headings: what a chunk of code defines, and the headings inside a chunk of Markdown, each once. */
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

/** Ids that depend on source and text alone: what is inserted elsewhere changes none of them. Equal texts are told apart by number. */
class ChunkIds {
  readonly #source: string
  readonly #seen = new Map<string, number>()

  constructor(source: string) {
    this.#source = source
  }

  of(text: string): string {
    const digest = hash('sha256', `${this.#source}\u0000${text}`)
    const occurrence = this.#seen.get(digest) ?? 0
    this.#seen.set(digest, occurrence + 1)
    const unique = occurrence === 0 ? digest : hash('sha256', `${digest}\u0000${occurrence}`)
    return `chunk_${unique.slice(0, 24)}`
  }
}

/** Counts lines and pages from passage to passage, so that the whole text is read once. */
class Places {
  readonly #text: string
  readonly #lineBreak: string
  readonly #hasPages: boolean
  #at = 0
  #line = 1
  #page = 1

  constructor(text: string, lineBreak: string) {
    this.#text = text
    this.#lineBreak = lineBreak
    this.#hasPages = text.includes('\f')
  }

  of(passage: Passage): { readonly lines: readonly [number, number]; readonly page: number | undefined } {
    this.#advance(passage.start)
    const first = this.#line
    const page = this.#hasPages ? this.#page : undefined
    this.#advance(passage.end)
    return { lines: [first, this.#line], page }
  }

  #advance(to: number): void {
    const part = this.#text.slice(this.#at, to)
    this.#line += count(part, this.#lineBreak)
    if (this.#hasPages) this.#page += count(part, '\f')
    this.#at = to
  }
}

function count(text: string, character: string): number {
  let found = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found++
  return found
}

const LONGEST_HEADER = 2000
const LONGEST_LABEL = 300
/** Lines at the beginning by which the delimiter is told, and rows by which names are told from values. */
const LOOKED_AT = 20

function* readCsv(text: string, max: number, lineBreak: string): Generator<Atom> {
  const delimiter = delimiterOf(firstLines(text, lineBreak)) ?? ','
  const header = readHeader(text, delimiter, lineBreak)
  for (const row of rowsOf(text, delimiter, lineBreak)) {
    const path = header !== undefined && row.start >= header.end ? [header.names] : []
    yield* proseAtoms(text, { ...row, border: BORDER.item, path }, max, lineBreak)
  }
}

function firstLines(text: string, lineBreak: string): string[] {
  const lines: string[] = []
  for (const { start, end } of linesOf(text, 0, text.length, lineBreak)) {
    if (end > start) lines.push(text.slice(start, Math.min(end, start + LONGEST_HEADER)))
    if (lines.length === LOOKED_AT) break
  }
  return lines
}

/** The names of the columns, and where their row ends; `undefined` when no row names them. */
function readHeader(text: string, delimiter: Delimiter, lineBreak: string): { names: string; end: number } | undefined {
  const rows: { cells: string[]; end: number }[] = []
  for (const { start, end } of rowsOf(text, delimiter, lineBreak)) {
    if (rows.length === 0 && end - start > LONGEST_HEADER) return undefined
    if (end > start) rows.push({ cells: cellsOf(text.slice(start, Math.min(end, start + LONGEST_HEADER)), delimiter), end })
    if (rows.length === LOOKED_AT) break
  }
  const header = rows[headerOf(rows.map(({ cells }) => cells)) ?? -1]
  if (header === undefined) return undefined
  // A comma and a space part the names.
  const names = header.cells.map((name) => name.replaceAll(/,\s+/g, ' '))
  return { names: names.join(', ').slice(0, LONGEST_LABEL), end: header.end }
}
