/** Which words of a statement a passage must have to bear it out: those that mean something. */

import { namesByCapital } from './capitals.ts'
import type { Place, Words } from './comparison.ts'
import { denialAt, isParticle, isStopWord, numeral } from './lexicon.ts'
import { isNumber, isSingle } from './tokens.ts'

export interface ContentWord {
  /** Folded. */
  readonly word: string
  /** A pair is two characters of a script without spaces. */
  readonly kind: 'word' | 'name' | 'number' | 'pair'
  /** Number of the word in the answer. */
  readonly at: number
}

/** Letters of the shortest word that means something by itself: what is shorter and no stop word is a piece of one (`s`, `re`). */
const SHORTEST_WORD = 3
/** A single letter is an initial, and says little. */
const SHORTEST_NAME = 2

/** @param words the folded words of the statement. */
export function contentWordsOf(answer: Words, said: Place, words: readonly string[]): ContentWord[] {
  const found: ContentWord[] = []
  const isName = namesByCapital(answer, said)
  for (const [index, word] of words.entries()) {
    const at = said.from + index
    if (isNumber(word) || numeral(word) !== undefined) found.push({ word, kind: 'number', at })
    else if (isSingle(word)) {
      const next = words[index + 1]
      const together = next !== undefined && isSingle(next) && answer.ends[at] === answer.starts[at + 1]
      if (together && !isParticle(word) && !isParticle(next)) found.push({ word: word + next, kind: 'pair', at })
    } else if (!isStopWord(word) && denialAt(words, index) !== 'strong') {
      if (isName[index] === true && word.length >= SHORTEST_NAME) found.push({ word, kind: 'name', at })
      else if (word.length >= SHORTEST_WORD) found.push({ word, kind: 'word', at })
    }
  }
  return found
}
