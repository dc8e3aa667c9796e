/** Builds the text that an embedding model receives for a chunk. */

import type { Chunk } from '../../core/store.ts'

/** Version of these rules: vectors made under different rules cannot be compared. */
export const TEXT_RULE = 1

/** Returns title, headings and text, one per line. */
export function embeddingText({ title, headings = [], text }: Pick<Chunk, 'title' | 'headings' | 'text'>): string {
  const lines = [title, ...headings.filter((heading) => heading !== title), text]
  return lines.filter((line) => line !== undefined && line !== '').join('\n')
}

/**
 * Returns the beginning of a text with at most so many estimated tokens: three Latin characters count as a token, any other character as one. That
 * overestimates the tokens of nearly every text.
 */
export function cutToTokens(text: string, maxTokens: number): string {
  if (text.length <= maxTokens) return text
  let tokens = 0
  for (let at = 0; at < text.length; at++) {
    tokens += text.charCodeAt(at) < 0x250 ? 1 / 3 : 1
    if (tokens > maxTokens) return beginning(text, at)
  }
  return text
}

/** Returns the first `length` units, or one less where that would split a surrogate pair. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text
  const parts = text.charCodeAt(length - 1)
  return text.slice(0, parts >= 0xd800 && parts < 0xdc00 ? length - 1 : length)
}
