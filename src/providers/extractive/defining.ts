/** The words by which a question asks for a definition: no answer has to say them. */

import { FUNCTION_WORDS } from './lexicon.ts'
import type { Word } from './words.ts'

/** "What does HACCP *mean*?", "the *meaning* of autolyse", "*define* levain"; none where the question would say nothing without them. */
export function definingWords(words: readonly Word[]): ReadonlySet<Word> {
  const found = new Set(words.filter((_, index) => asks(words, index)))
  return words.some((word) => !found.has(word) && says(word)) ? found : new Set()
}

/** Of a question about one word such a word would be half, so that a glossary, which has no "means", would seem to lack half of it. */
export function weighsAsHalf(words: readonly Word[], defining: ReadonlySet<Word>): boolean {
  return new Set(words.filter((word) => !defining.has(word) && says(word)).map(({ stem }) => stem)).size === 1
}

function says(word: Word): boolean {
  return word.upper || !FUNCTION_WORDS.has(word.lower)
}

function asks(words: readonly Word[], index: number): boolean {
  const before = words.slice(0, index).map(({ lower }) => lower)
  const [word, next] = words.slice(index).map(({ lower }) => lower)
  switch (word) {
    case 'mean':
    case 'stand':
    case 'refer': {
      const asked = before.indexOf('what')
      if (asked === -1 || !DO.has(before[asked + 1] ?? '') || before.length < asked + 3) return false
      return word === 'mean' || next === (word === 'stand' ? 'for' : 'to')
    }
    case 'meant':
      return before.includes('what') && next === 'by'
    case 'meaning':
    case 'definition':
      return next === 'of' || (next === undefined && before.length > 0)
    case 'define':
    case 'explain':
      // "How do I define a tool?" asks how.
      return before.every((one) => FUNCTION_WORDS.has(one) && !ASK_ELSE.has(one))
    default:
      return false
  }
}

const DO: ReadonlySet<string> = new Set(['do', 'does', 'did'])
const ASK_ELSE: ReadonlySet<string> = new Set(['how', 'where', 'when', 'who', 'why', 'which', 'what'])
