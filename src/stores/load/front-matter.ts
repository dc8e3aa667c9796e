/** Reads the title of a Markdown file, and its front matter for filters: top-level fields with one value or a list of values. */

import type { Json, JsonObject } from '../../core/json.ts'
import { markdownBlocks } from '../../text/markdown-blocks.ts'
import { lineBreakOf } from '../../util/lines.ts'

const TITLE = /^title[ \t]*[:=][ \t]*(["']?)([^\n]{1,200}?)\1[ \t]*$/m
const BLOCKS_BEFORE_TITLE = 12

/** Returns the title in the front matter, else the first heading of the highest level near the top. */
export function titleOf(markdown: string): string | undefined {
  const blocks = markdownBlocks(markdown, 0, markdown.length, lineBreakOf(markdown))
  for (const block of blocks.take(BLOCKS_BEFORE_TITLE)) {
    let title: string | undefined
    if (block.kind === 'front-matter') title = TITLE.exec(markdown.slice(block.start, block.end))?.[2]?.trim()
    else if (block.kind === 'heading' && block.level === 1) title = block.title
    if (title !== undefined && title !== '') return title
  }
  return undefined
}

/** Returns the fields of the front matter; empty when there is no front matter. */
export function factsOf(markdown: string): JsonObject {
  const [first] = markdownBlocks(markdown, 0, markdown.length, lineBreakOf(markdown))
  return first?.kind === 'front-matter' ? frontMatterFacts(markdown.slice(first.start, first.end).trim()) : {}
}

const FIELD = /^([\w-]{1,100})[ \t]*[:=][ \t]*(.*)$/
const ELEMENT = /^[ \t]*-[ \t]+(.*)$/
const MOST_FIELDS = 100
const LONGEST_VALUE = 500

/**
 * @param block the front matter with its fences, YAML or TOML. Nested fields, multi-line values and empty values are ignored.
 * @returns all fields except the title. Only numbers in the notation of JavaScript become numbers, so that `1.10` stays a string.
 */
export function frontMatterFacts(block: string): JsonObject {
  const facts = new Map<string, Json>()
  let list: { readonly key: string; readonly values: Json[] } | undefined
  for (const line of block.split(/\r\n|\r|\n/).slice(1, -1)) {
    const element = ELEMENT.exec(line)?.[1]
    if (element !== undefined && list !== undefined) {
      const value = valueOf(element)
      if (value !== null) list.values.push(value)
      if (list.values.length > 0) facts.set(list.key, list.values)
      continue
    }
    const [, key, text = ''] = FIELD.exec(line) ?? []
    // Comments and empty lines within a list do not end it.
    if (key === undefined) continue
    if (facts.size === MOST_FIELDS) break
    list = text.trim() === '' ? { key, values: [] } : undefined
    const value = /^\[.*\]\s*(?:#.*)?$/.test(text) ? listOf(text) : valueOf(text)
    if (value !== null) facts.set(key, value)
  }
  facts.delete('title')
  return Object.fromEntries(facts)
}

/** Parses `[a, "b, c"]`; values with nested brackets are ignored, as no filter can match them. */
function listOf(text: string): Json {
  const inside = text.slice(1, text.lastIndexOf(']'))
  if (/[[\]{}]/.test(inside)) return null
  const parts = inside.match(/\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]+)/g) ?? []
  const values = parts.map(valueOf).filter((value) => value !== null)
  return values.length === 0 ? null : values
}

/** Parses a scalar; `null` for anything else: a block that continues below, an object, an anchor. */
function valueOf(text: string): string | number | boolean | null {
  const trimmed = text.trim()
  if (trimmed.length > LONGEST_VALUE) return null
  const quoted = /^"((?:[^"\\]|\\.)*)"|^'((?:[^']|'')*)'/.exec(trimmed)
  if (quoted !== null) return quoted[1]?.replaceAll(/\\(.)/g, '$1') ?? quoted[2]?.replaceAll("''", "'") ?? ''
  if (/^[[\]{}|>&*!%@`"']/.test(trimmed)) return null
  const plain = trimmed.replace(/(?:^|\s+)#.*$/, '')
  if (plain === '' || plain === 'null' || plain === '~') return null
  if (plain === 'true' || plain === 'false') return plain === 'true'
  const number = Number(plain)
  return Number.isFinite(number) && String(number) === plain ? number : plain
}
