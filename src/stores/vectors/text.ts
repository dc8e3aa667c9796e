/** Makes the text of a chunk that an embedding model gets. */

import type { Chunk } from '../../core/store.ts'

/** Part of what makes vectors comparable: another rule, other vectors. */
export const TEXT_RULE = 1

/** Title, headings and text, a line each. */
export function embeddingText({ title, headings = [], text }: Pick<Chunk, 'title' | 'headings' | 'text'>): string {
  const lines = [title, ...headings.filter((heading) => heading !== title), text]
  return lines.filter((line) => line !== undefined && line !== '').join('\n')
}

/**
 * The beginning of a text that has at most so many tokens by estimate: three Latin characters are a token, any other character is one. That is more
 * than tokenisers make of nearly every text.
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

/** The first `length` units, or one less where that would part a pair of surrogates. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text
  const parts = text.charCodeAt(length - 1)
  return text.slice(0, parts >= 0xd800 && parts < 0xdc00 ? length - 1 : length)
}
