/** Loads one file as a document: reads it within limits, tells its format by its content, and extracts the text. */

import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { SourceDocument } from '../../core/store.ts'
import { decodeText } from './decode.ts'
import { declaredCharset, extractHtml } from './extract-html.ts'
import type { Extracted, Failure } from './unreadable.ts'
import { promisedKind } from './formats.ts'
import type { Extractor, FileKind } from './formats.ts'
import { factsOf, titleOf } from './front-matter.ts'
import { holdsPrivateKey } from '../../util/secret-files.ts'
import { failureOf, Unreadable } from './unreadable.ts'
import type { FoundFile } from './walk.ts'

/** Changes whenever a file may give another text; what another version loaded is loaded again. */
export const LOADER_VERSION = 3

const MEGABYTE = 1024 * 1024

/** A pipe may stand where a file was found: waiting for its writer would hold a thread for ever, which not even the end of the process ends. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Limits for reading one file. */
export interface LoadLimits {
  /** Largest file in bytes; formats that have to be parsed have lower limits of their own. Default 50 MB. */
  readonly maxFileBytes?: number | undefined
  /** Milliseconds for one file that has to be parsed; default 60,000. */
  readonly timeout?: number | undefined
  /** Aborting it ends the reading. */
  readonly signal?: AbortSignal | undefined
}

const DEFAULT_MAX_FILE_BYTES: number = 50 * MEGABYTE
const DEFAULT_TIMEOUT = 60_000
const LARGEST: Readonly<Record<Extractor, number>> = {
  text: Infinity,
  html: 10 * MEGABYTE,
  docx: 30 * MEGABYTE,
  pdf: 50 * MEGABYTE,
  notebook: 50 * MEGABYTE,
}

/** A file as it is now: its bytes are there, what is in them comes later. */
export interface OpenedFile {
  readonly file: FoundFile
  /** SHA-256 of the bytes, hexadecimal. */
  readonly hash: string
  /** Of what was read, which may be newer than what was found. */
  readonly size: number
  readonly mtimeMs: number
  readonly bytes: Buffer
}

/** A document, and what is worth telling about how its file was read: a guessed encoding, broken characters. */
export interface Loaded {
  readonly document: SourceDocument
  readonly note?: string
}

/**
 * Reads a file and takes its text out. Whatever is wrong with the file is a reason in the result.
 *
 * @throws the reason of the signal when it is aborted, nothing else.
 */
export async function loadFile(file: FoundFile, limits: LoadLimits = {}): Promise<Loaded | Failure> {
  const opened = await openFile(file, limits)
  return 'skipped' in opened ? opened : extractDocument(opened, limits)
}

/** The first half of `loadFile`: the bytes, and what they can be recognised by. */
export function openFile(file: FoundFile, limits: LoadLimits = {}): Promise<OpenedFile | Failure> {
  return withReason(readBytes(file, limits), limits)
}

/** The second half of `loadFile`: the text. */
export function extractDocument(opened: OpenedFile, limits: LoadLimits = {}): Promise<Loaded | Failure> {
  return withReason(documentOf(opened, limits), limits)
}

async function withReason<T>(work: Promise<T>, { signal }: LoadLimits): Promise<T | Failure> {
  try {
    return await work
  } catch (error) {
    signal?.throwIfAborted()
    return failureOf(error)
  }
}

async function readBytes(
  file: FoundFile,
  { maxFileBytes = DEFAULT_MAX_FILE_BYTES, signal }: LoadLimits,
): Promise<OpenedFile | Failure> {
  const handle = await open(file.path, READ_WITHOUT_WAITING)
  try {
    const before = await handle.stat()
    if (!before.isFile()) throw new Unreadable('no regular file')
    const kind = promisedKind(file.path)
    const limit = Math.min(maxFileBytes, kind === undefined || 'unsupported' in kind ? Infinity : LARGEST[kind.extractor])
    if (before.size > limit)
      return { skipped: `larger than ${megabytes(limit)} (it has ${megabytes(before.size)})`, because: 'limit' }
    const bytes = await readAll(handle, before.size, signal)
    const after = await handle.stat()
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs)
      return { skipped: 'it changed while it was read', because: 'now' }
    return { file, hash: hash('sha256', bytes), size: before.size, mtimeMs: before.mtimeMs, bytes }
  } finally {
    await handle.close()
  }
}

/** As many bytes as the file had when it was opened: a file that grows without end is not followed. */
async function readAll(handle: FileHandle, size: number, signal: AbortSignal | undefined): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  while (at < size) {
    signal?.throwIfAborted()
    const { bytesRead } = await handle.read(bytes, at, Math.min(size - at, 16 * MEGABYTE), at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return bytes.subarray(0, at)
}

async function documentOf({ file, bytes }: OpenedFile, limits: LoadLimits): Promise<Loaded> {
  const kind = kindOf(file, bytes)
  const extracted = await extract(kind, bytes, file, limits)
  if (extracted.text.trim() === '') throw new Unreadable('empty')
  const isMarkdown = kind.format === 'markdown'
  const title = extracted.title ?? (isMarkdown ? titleOf(extracted.text) : undefined)
  const metadata = isMarkdown && kind.extractor === 'text' ? factsOf(extracted.text) : {}
  const document: SourceDocument = {
    source: file.source,
    text: extracted.text,
    format: kind.format,
    ...(title === undefined ? {} : { title }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(kind.extractor === 'text' ? {} : { extracted: true }),
  }
  return { document, ...(extracted.note === undefined ? {} : { note: extracted.note }) }
}

/** What the name promises, unless the content says otherwise. */
function kindOf(file: FoundFile, bytes: Buffer): FileKind {
  if (bytes.length === 0) throw new Unreadable('empty')
  const promised = promisedKind(file.path)
  if (bytes.subarray(0, 1024).includes('%PDF-')) return { extractor: 'pdf', format: 'text' }
  if (promised !== undefined && !('unsupported' in promised)) return promised
  if (bytes.subarray(0, 2).toString('latin1') === '#!') return { extractor: 'text', format: 'code' }
  return { extractor: 'text', format: 'text' }
}

async function extract({ extractor }: FileKind, bytes: Buffer, file: FoundFile, limits: LoadLimits): Promise<Extracted> {
  const patience = { timeout: limits.timeout ?? DEFAULT_TIMEOUT, signal: limits.signal }
  if (extractor === 'pdf' || extractor === 'docx') {
    const { extractApart } = await import('./extract-apart.ts')
    return extractApart({ extractor, bytes }, patience)
  }
  const declared = extractor === 'html' ? declaredCharset(bytes) : undefined
  const decoded = decodeText(bytes, declared)
  if (decoded === undefined) throw new Unreadable('binary data')
  const { text } = decoded
  const noted = decoded.note === undefined ? {} : { note: decoded.note }
  if (extractor === 'html') return { ...(await extractHtml(text, patience)), ...noted }
  if (!file.isNamed && holdsPrivateKey(text)) throw new Unreadable('may hold secrets (a private key)')
  if (extractor === 'notebook') {
    const { extractNotebook } = await import('./extract-notebook.ts')
    return { ...extractNotebook(text), ...noted }
  }
  return { text, ...noted }
}

function megabytes(bytes: number): string {
  return bytes >= MEGABYTE ? `${Math.round(bytes / MEGABYTE)} MB` : `${bytes} bytes`
}
