/** Which words of a statement mean something, and how much each one tells. */

import { fold } from '../text/fold.ts'
import type { Language } from '../text/language.ts'
import { wordsOf } from '../text/polarity-words.ts'
import type { WordClass } from '../text/polarity-words.ts'
import type { Library, Weights } from './passages.ts'
import type { Words } from '../text/comparable-words.ts'

const CLASSES: readonly WordClass[] = ['grammar', 'not', 'whole', 'part', 'must', 'may']

/** Whether a word belongs to a closed class. */
export function isClosed(word: string, language: Language): boolean {
  return CLASSES.some((name) => wordsOf(language, name, fold).has(word))
}

export function contentWeights({ words, keys }: Words, language: Language, library: Library): Weights {
  const stems = new Set<string>()
  for (const [at, word] of words.entries())
    if (!isClosed(word, language) && /[\p{L}\p{N}]/u.test(word)) stems.add(keys[at] ?? word)
  return library.weigh(stems)
}
