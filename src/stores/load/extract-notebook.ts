/** Converts Jupyter notebooks to Markdown: prose unchanged, code in fences, the output of each cell below it. */

import type { Extracted } from './unreadable.ts'
import { Unreadable } from './unreadable.ts'

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
    return [
      fenced(content, language),
      fenced(listOf(cell['outputs']).map(printed).join('\n').slice(0, LONGEST_OUTPUT).trimEnd(), ''),
    ]
  })
  return { text: blocks.filter((block) => block !== '').join('\n\n') }
}

function printed(output: Readonly<Record<string, unknown>>): string {
  return text(output['text']) || text(record(output['data'])['text/plain'])
}

/** Wraps content in a fence that is longer than any inside it. */
function fenced(content: string, language: string): string {
  if (content.trim() === '') return ''
  const longest = Math.max(2, ...(content.match(/`{3,}/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${content}\n${fence}`
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
