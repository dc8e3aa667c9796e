/** Loads one file as a document: reads it within limits, detects its format from its content, and extracts the text. */

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
import { isPdf } from './is-pdf.ts'
import { holdsPrivateKey } from '../../util/secret-files.ts'
import { failureOf, Unreadable } from './unreadable.ts'
import type { FoundFile } from './walk.ts'

/** Increase it when the text of a file may change: files loaded by another version are loaded again. */
export const LOADER_VERSION = 3

const MEGABYTE = 1024 * 1024

/** A pipe may have replaced the file: waiting for its writer would block a thread forever, even after the process ends. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Limits for reading one file. */
export interface LoadLimits {
  /** Largest file in bytes; parsed formats have lower limits. Default 50 MB. */
  readonly maxFileBytes?: number | undefined
  /** Milliseconds for a file that has to be parsed; default 60,000. */
  readonly timeout?: number | undefined
  /** Aborts the reading. */
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

/** An opened file: its bytes are read, its text is not yet extracted. */
export interface OpenedFile {
  readonly file: FoundFile
  /** SHA-256 of the bytes, hexadecimal. */
  readonly hash: string
  /** Size of the bytes that were read, which may be newer than the listing. */
  readonly size: number
  readonly mtimeMs: number
  readonly bytes: Buffer
}

/** A document, and a note on how its file was read: a guessed encoding, broken characters. */
export interface Loaded {
  readonly document: SourceDocument
  readonly note?: string
}

/**
 * Reads a file and extracts its text. Problems with the file become a reason in the result.
 *
 * @throws only the reason of the signal when it is aborted.
 */
export async function loadFile(file: FoundFile, limits: LoadLimits = {}): Promise<Loaded | Failure> {
  const opened = await openFile(file, limits)
  return 'skipped' in opened ? opened : extractDocument(opened, limits)
}

/** The first half of `loadFile`: reads the bytes and their hash. */
export function openFile(file: FoundFile, limits: LoadLimits = {}): Promise<OpenedFile | Failure> {
  return withReason(readBytes(file, limits), limits)
}

/** The second half of `loadFile`: extracts the text. */
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
    if (!before.isFile()) throw new Unreadable('not a regular file')
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

/** Reads as many bytes as the file had when it was opened, so that a growing file ends. */
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

/** Returns the kind that the name suggests, unless the content contradicts it. */
function kindOf(file: FoundFile, bytes: Buffer): FileKind {
  if (bytes.length === 0) throw new Unreadable('empty')
  const promised = promisedKind(file.path)
  if (isPdf(bytes, file.path)) return { extractor: 'pdf', format: 'text' }
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
