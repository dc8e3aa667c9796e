/** Puts the words that were searched for in place of misspelt ones. */

import type { Evidence, StoreNotice } from '../core/store.ts'

const WORD = /[\p{L}\p{M}]+/gu

/** The question with the words that were searched for instead of those that no chunk has. */
export function withCorrections(question: string, corrections: Evidence['corrections'] = {}): string {
  if (Object.keys(corrections).length === 0) return question
  return question.replaceAll(WORD, (word) => corrections[word] ?? word)
}

/** Says so to whoever asked. */
export function correctionNotice(corrections: Evidence['corrections'] = {}): StoreNotice | undefined {
  const words = Object.values(corrections)
  return words.length === 0 ? undefined : { code: 'searched_for', message: `searched for: ${words.join(', ')}` }
}
