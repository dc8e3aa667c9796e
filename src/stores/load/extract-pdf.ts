/** Extracts plain text from PDF: form feeds between pages, blank lines where gaps between lines show a new paragraph. */

import type { getDocumentProxy } from 'unpdf'
import { toCriaError } from '../../core/error.ts'
import type { Extracted } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'

interface TextLine {
  readonly text: string
  /** Height above the bottom of the page, in points. */
  readonly y: number
}

/** A gap this many times larger than usual between two lines ends a paragraph. */
const PARAGRAPH_GAP = 1.4
const USELESS_TITLE = /^(?:untitled|title|document\d*|microsoft (?:word|powerpoint)|.*\.(?:docx?|pdf|tex|indd|pptx?|dvi|odt))\b/i

/** Untrusted files decide its time and memory, so call it through `extract-apart.ts`. @throws Unreadable */
export async function extractPdf(bytes: Buffer): Promise<Extracted> {
  const { getDocumentProxy } = await import('unpdf')
  try {
    const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
    try {
      return await textOf(pdf)
    } finally {
      await pdf.loadingTask.destroy()
    }
  } catch (error) {
    throw reasonOf(error)
  }
}

async function textOf(pdf: Awaited<ReturnType<typeof getDocumentProxy>>): Promise<Extracted> {
  const pages: string[] = []
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    pages.push(pageText(linesOf(items as readonly TextItem[])))
    page.cleanup()
  }
  const text = pages.join('\n\f\n')
  if (text.trim() === '') throw new Unreadable('a PDF without text (scanned?)')
  const title = titleOf((await pdf.getMetadata()).info)
  return { text, ...(title === undefined ? {} : { title }) }
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

/** Joins lines, with a blank line at wide gaps; rejoins words hyphenated at the end of a line. */
function pageText(lines: readonly TextLine[]): string {
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

function reasonOf(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  if (error instanceof Error && error.name === 'PasswordException') return new Unreadable('a PDF with a password')
  return new Unreadable(`a broken PDF (${toCriaError(error).message})`)
}
