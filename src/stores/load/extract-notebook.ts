/** Converts Jupyter notebooks to Markdown: prose unchanged, code in fences, the output of each cell below it. */

import { fenced } from '../../text/markdown-text.ts'
import { Unreadable } from './unreadable.ts'
import type { Extracted } from './unreadable.ts'

/** Longer output is a table of numbers or a log, which is not worth indexing. */
const LONGEST_OUTPUT = 2000

/** Format: nbformat 4, https://nbformat.readthedocs.io/en/latest/format_description.html. @throws Unreadable */
export function extractNotebook(source: string): Extracted {
  const notebook = parse(source)
  const cells = listOf(notebook['cells'])
  if (cells.length === 0) throw new Unreadable('a notebook without cells')
  const language = text(record(record(notebook['metadata'])['language_info'])['name']) || 'python'
  const blocks = cells.flatMap((cell) => {
    const content = text(cell['source']).trimEnd()
    if (cell['cell_type'] !== 'code') return content
    const output = listOf(cell['outputs']).map(printed).join('\n').slice(0, LONGEST_OUTPUT).trimEnd()
    return [content.trim() === '' ? '' : fenced(content, language), output === '' ? '' : fenced(output, '')]
  })
  return { text: blocks.filter((block) => block !== '').join('\n\n') }
}

function printed(output: Readonly<Record<string, unknown>>): string {
  return text(output['text']) || text(record(output['data'])['text/plain'])
}

function parse(source: string): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(source))
  } catch {
    throw new Unreadable('a notebook that is not valid JSON')
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(record) : []
}

/** Returns a text, which notebooks store as a string or as a list of lines. */
function text(value: unknown): string {
  if (Array.isArray(value)) return value.filter((line) => typeof line === 'string').join('')
  return typeof value === 'string' ? value : ''
}
