/** The tool `read_file`: reads lines of a text file, the text of a document, or an image. */

import { describeBytes, imageFrom } from '../binary.ts'
import { defineTool, inputOf } from '../define-tool.ts'
import { CriaError } from '../../core/error.ts'
import type { Tool, ToolContext, ToolOutput } from '../../core/tool.ts'
import { beginningOf } from '../../util/lines.ts'
import { holdsPrivateKey } from '../../util/secret-files.ts'
import { decode } from './encoding.ts'
import type { KnownFiles } from './edits.ts'
import { megabytes, openFile, problem, readWhole } from './open-file.ts'
import type { OpenFile } from './open-file.ts'
import { hashOf, MAX_EDITED_BYTES, withoutReturns } from './text-file.ts'
import { quoted } from './workspace.ts'
import type { WorkspacePath, Workspace } from './workspace.ts'

const DEFAULT_LINES = 2000
const HEAD = 8192

/** Returns the text of a document such as a PDF; `undefined` when it cannot be extracted. */
export type ReadDocument = (path: string, signal: AbortSignal) => Promise<string | undefined>

const DOCUMENT = /\.(?:pdf|docx)$/i

export function readFileTool(workspace: Workspace, known: KnownFiles, readDocument?: ReadDocument): Tool {
  return defineTool({
    name: 'read_file',
    description:
      'Reads a text file of the working folder, the text of a PDF or DOCX, or shows an image. Long files come in parts: ask for the next one with "offset". Read a file before you change it.',
    inputSchema: inputOf(
      {
        path: { type: 'string', description: 'Path relative to the working folder.' },
        offset: { type: 'integer', minimum: 1, description: 'First line, from 1.' },
        limit: { type: 'integer', minimum: 1, maximum: 100_000, description: `Lines at most; default ${DEFAULT_LINES}.` },
      },
      ['path'],
    ),
    isReadOnly: true,
    needsPermission: ({ path }) => workspace.isSecret(path),
    subjects: ({ path }) => [workspace.subject(path)],
    resources: ({ path }) => ({ reads: [workspace.key(path)] }),
    title: ({ path }) => path,
    maxResultChars: 64_000,
    async call({ path, offset = 1, limit = DEFAULT_LINES }, { sessionId, signal }) {
      const place = await workspace.place(path)
      const file = await openFile(place)
      if (file === undefined) throw problem(`There is no file ${quoted(path)}.`)
      try {
        const range: LineRange = { first: offset, count: limit }
        if (DOCUMENT.test(place.real)) {
          const text = await readDocument?.(place.real, signal)
          if (text !== undefined) return excerpt(text, range)
        }
        if (file.size > MAX_EDITED_BYTES) return await readLarge(file, place, range, signal)
        const bytes = await readWhole(file, place, MAX_EDITED_BYTES)
        known.saw(sessionId, place.real, hashOf(bytes))
        return shown(bytes, place, range, workspace.isSecret(path))
      } finally {
        await file.handle.close()
      }
    },
  })
}

/** @param granted true for a path that needed permission because it may hold secrets. */
function shown(bytes: Buffer, { name }: WorkspacePath, range: LineRange, granted: boolean): ToolOutput {
  if (bytes.length === 0) return `(${name} is empty)`
  const image = imageFrom(bytes)
  if (image !== undefined) return { content: `(${name}: ${describeBytes(bytes)}, attached)`, attachments: [image] }
  const decoded = decode(bytes)
  if (decoded === undefined) return `(${name} is not shown: ${describeBytes(bytes)})`
  if (!granted && holdsPrivateKey(decoded.text)) {
    throw new CriaError('permission_denied', `${JSON.stringify(name)} holds a private key and is not read.`)
  }
  return excerpt(withoutReturns(decoded.text), range)
}

/** Reads lines of a file that is too large for memory, as a stream. Such a file cannot be edited. */
async function readLarge(
  { handle, size }: OpenFile,
  { name }: WorkspacePath,
  range: LineRange,
  signal: ToolContext['signal'],
): Promise<ToolOutput> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0)
  const head = buffer.subarray(0, bytesRead)
  const decoded = decode(wholeCharacters(head))
  if (decoded === undefined || decoded.encoding.startsWith('utf-16')) {
    return `(${name} is not shown: ${describeBytes(head).replace(/, [\d,]+ bytes$/, '')}, ${megabytes(size)})`
  }
  const pieces = handle.createReadStream({ start: 0, autoClose: false, signal })
  return excerptOfStream(pieces, decoded.encoding, range)
}

/** Omits a last character of several bytes, which may be cut. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, (bytes[end - 1] ?? 0) >= 0xc0 ? end - 1 : end)
}

interface LineRange {
  /** Line number, counted from 1. */
  readonly first: number
  readonly count: number
}

const MAX_LINE = 2000
const MAX_CHARS = 50_000
/** Bytes that are skipped at most in search of a line. */
const MAX_PASSED = 500_000_000

function excerpt(text: string, { first, count }: LineRange): string {
  const lines = text.split('\n')
  // A final line feed does not begin another line.
  const total = text.endsWith('\n') ? lines.length - 1 : lines.length
  if (first > total) return `(the file has only ${total} lines)`
  const taken: string[] = []
  let room = MAX_CHARS
  for (const line of lines.slice(first - 1, Math.min(first - 1 + count, total))) {
    const cut = cutLine(line)
    if (cut.length + 1 > room && taken.length > 0) break
    room -= cut.length + 1
    taken.push(cut)
  }
  const last = first - 1 + taken.length
  const body = taken.join('\n') + (last === total && text.endsWith('\n') ? '\n' : '')
  if (first === 1 && last === total) return body
  const more = last < total ? ` Read on with offset: ${last + 1}.` : ''
  return `${body}\n[Lines ${first} to ${last} of ${total}.${more}]`
}

/**
 * Cuts a long line between characters and notes how much was omitted.
 *
 * @param length of the whole line, when `line` is only its beginning.
 */
function cutLine(line: string, length: number = line.length): string {
  if (length <= MAX_LINE) return line
  const head = beginningOf(line, MAX_LINE)
  return `${head} [… ${(length - head.length).toLocaleString('en-US')} more characters in this line]`
}

/** Streaming form of `excerpt`, which holds only the shown lines in memory. */
async function excerptOfStream(
  pieces: AsyncIterable<Uint8Array>,
  encoding: string,
  { first, count }: LineRange,
): Promise<string> {
  const decoder = new TextDecoder(encoding)
  const taken: string[] = []
  let [line, current, length, room, passed] = [1, '', 0, MAX_CHARS, 0]
  const full = (): boolean => taken.length >= count || (room <= 0 && taken.length > 0)
  const endLine = (): void => {
    if (line >= first) {
      const shown = cutLine(current, length)
      room -= shown.length + 1
      if (room >= 0 || taken.length === 0) taken.push(shown.replace(/\r$/, ''))
    }
    line++
    current = ''
    length = 0
  }
  for await (const piece of pieces) {
    passed += piece.length
    if (passed > MAX_PASSED) return `(line ${first} lies too far inside the file to be read; search_files finds text in it)`
    const text = decoder.decode(piece, { stream: true })
    let at = 0
    while (at < text.length && !full()) {
      const feed = text.indexOf('\n', at)
      const end = feed === -1 ? text.length : feed
      if (line >= first && current.length <= MAX_LINE) current += text.slice(at, Math.min(end, at + MAX_LINE + 1))
      length += end - at
      if (feed !== -1) endLine()
      at = end + 1
    }
    if (full()) break
  }
  if (!full() && length > 0) endLine()
  if (taken.length === 0) return `(the file has only ${line - 1} lines)`
  const last = first - 1 + taken.length
  const more = full() ? ` There may be more: offset ${last + 1}.` : ''
  return `${taken.join('\n')}\n[Lines ${first} to ${last} of a file too large to be edited.${more}]`
}
