/** PDF as plain text: pages parted by form feeds, paragraphs by the gaps between lines. */

import { inflateSync } from 'node:zlib'
import { toCriaError } from '../../core/error.ts'
import type { Extracted } from './extracted.ts'
import { Unreadable } from './unreadable.ts'

export interface PdfOptions {
  /** Milliseconds for the whole file. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
}

interface TextLine {
  readonly text: string
  /** Height above the bottom of the page, in points. */
  readonly y: number
}

/** All streams of a file together may grow to this many bytes. */
const LARGEST_CONTENT = 256 * 1024 * 1024
/** A gap this many times larger than usual between two lines ends a paragraph. */
const PARAGRAPH_GAP = 1.4
const USELESS_TITLE = /^(?:untitled|title|document\d*|microsoft (?:word|powerpoint)|.*\.(?:docx?|pdf|tex|indd|pptx?|dvi|odt))\b/i

/** @throws Unreadable */
export async function extractPdf(bytes: Buffer, { timeout, signal }: PdfOptions): Promise<Extracted> {
  refuseBombs(bytes)
  const { getDocumentProxy } = await import('unpdf')
  const deadline = AbortSignal.timeout(timeout)
  const stop = signal === undefined ? deadline : AbortSignal.any([deadline, signal])
  const opening = getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  let pdf: Awaited<typeof opening> | undefined
  try {
    pdf = await within(opening, stop)
    const pages: string[] = []
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await within(pdf.getPage(number), stop)
      const { items } = await within(page.getTextContent(), stop)
      pages.push(pageText(linesOf(items as readonly TextItem[])))
      page.cleanup()
    }
    const text = pages.join('\n\f\n')
    if (text.trim() === '') throw new Unreadable('a PDF without text (scanned?)')
    const title = titleOf((await within(pdf.getMetadata(), stop)).info)
    return { text, ...(title === undefined ? {} : { title }) }
  } catch (error) {
    signal?.throwIfAborted()
    if (deadline.aborted) throw new Unreadable(`a PDF that takes longer than ${timeout / 1000} s to read`)
    throw reasonOf(error)
  } finally {
    // A document that is still being opened is ended as soon as it is there.
    opening.then((opened) => opened.loadingTask.destroy()).catch(() => {})
  }
}

/** An item of pdf.js: a run of text, or a marked-content mark, which has no text. */
interface TextItem {
  readonly str?: string
  readonly hasEOL?: boolean
  readonly transform?: readonly number[]
}

function linesOf(items: readonly TextItem[]): TextLine[] {
  const lines: TextLine[] = []
  let text = ''
  let y: number | undefined
  for (const { str, hasEOL, transform } of items) {
    if (str === undefined) continue
    if (str.trim() !== '') y ??= transform?.[5]
    text += str
    if (hasEOL !== true) continue
    lines.push({ text: text.trimEnd(), y: y ?? lines.at(-1)?.y ?? 0 })
    text = ''
    y = undefined
  }
  if (text.trim() !== '') lines.push({ text: text.trimEnd(), y: y ?? 0 })
  return lines
}

/** Lines with a blank one where the gap is wide; a word that was parted at the end of a line is joined again. */
export function pageText(lines: readonly TextLine[]): string {
  const gaps = lines.slice(1).map((line, index) => Math.abs((lines[index]?.y ?? 0) - line.y))
  const wide = gaps.filter((gap) => gap > 0).toSorted((a, b) => a - b)
  const usual = wide[Math.floor(wide.length / 2)] ?? Infinity
  let text = ''
  for (const [index, line] of lines.entries()) {
    const gap = index === 0 ? 0 : (gaps[index - 1] ?? 0)
    const partsWord = /\p{L}[-\u00ad]$/u.test(text) && /^\p{Ll}/u.test(line.text)
    if (partsWord) text = text.slice(0, -1)
    else if (index > 0) text += gap > usual * PARAGRAPH_GAP ? '\n\n' : '\n'
    text += line.text
  }
  return text.replaceAll('\u00ad', '').trim()
}

function titleOf(info: object): string | undefined {
  const title = 'Title' in info && typeof info.Title === 'string' ? info.Title.trim() : ''
  return title.length < 3 || title.length > 200 || USELESS_TITLE.test(title) ? undefined : title
}

async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
    work.catch(() => {})
  }
}

function reasonOf(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  if (error instanceof Error && error.name === 'PasswordException') return new Unreadable('a PDF with a password')
  return new Unreadable(`a broken PDF (${toCriaError(error).message})`)
}

/** Inflates every compressed stream once with a limit, since the library has none. Streams that cannot be inflated are its business. */
function refuseBombs(bytes: Buffer): void {
  let total = 0
  for (let at = bytes.indexOf('stream'); at !== -1; at = bytes.indexOf('stream', at + 6)) {
    let start = at + 6
    if (bytes[start] === 0x0d) start++
    if (bytes[start] === 0x0a) start++
    // A zlib header: deflate with a window of up to 32 KB (RFC 1950).
    if (bytes[start] !== 0x78 && bytes[start] !== 0x58 && bytes[start] !== 0x48) continue
    const end = bytes.indexOf('endstream', start)
    try {
      total += inflateSync(bytes.subarray(start, end === -1 ? bytes.length : end), {
        maxOutputLength: LARGEST_CONTENT - total,
      }).length
    } catch (error) {
      if (!(error instanceof RangeError)) continue
      throw new Unreadable('a PDF whose content is larger than the limit when it is unpacked (a bomb?)')
    }
  }
}
