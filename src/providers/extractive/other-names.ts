/** Which stretches of a passage are about something else than what the question names: `K2` where it says `K1`, the blue chair for the red one. */

import type { Context } from './context.ts'
import { FUNCTION_WORDS } from './lexicon.ts'
import type { Match } from './matching.ts'
import type { Question } from './question.ts'
import type { Word } from './words.ts'

/** For each term of the question 1 where these words have another name of its kind: the same letters with another number. */
export function rivals({ terms, words: asked, given }: Question, words: readonly Word[]): number[] {
  const others = new Set(words.flatMap((word) => (word.coded && !given.has(word.stem) ? [lettersOf(word)] : [])))
  return terms.map(({ coded, stem }) => {
    const name = coded && others.size > 0 ? asked.find((word) => word.stem === stem) : undefined
    return name !== undefined && others.has(lettersOf(name)) ? 1 : 0
  })
}

function lettersOf({ parts, lower }: Word): string {
  return parts?.[0]?.lower ?? lower
}

/**
 * Whether what is said here is said of another name.
 *
 * @param said how well each term is said, here and above.
 * @param passage the same for the whole passage with its headings.
 * @param rivalled what `rivals` finds, here and above.
 */
export function isOfAnotherName(
  { terms }: Question,
  said: readonly number[],
  passage: readonly number[],
  rivalled: readonly number[],
): boolean {
  const names = [...terms.keys()].filter((term) => terms[term]?.coded === true)
  if (names.length === 0 || names.some((term) => said[term] === 1)) return false
  return names.some((term) => rivalled[term] === 1) || !names.some((term) => passage[term] === 1)
}

export function contextOf(context: Context | undefined): readonly (readonly number[])[] {
  return context === undefined ? [] : [context.close, context.wide]
}

/** Whether a cell shares a word with a name of the question, has another word in place of the one beside it, and nothing says that one. */
export function namesAnother(
  { words: asked, terms, given }: Question,
  words: readonly Word[],
  matches: readonly (Match | undefined)[],
  unsaid: readonly boolean[],
): boolean {
  const shared = new Set(matches.flatMap((match) => (match === undefined ? [] : [terms[match.term]?.stem])))
  if (shared.size === 0) return false
  const hasMore = words.some(
    ({ lower, stem }, index) => matches[index] === undefined && !given.has(stem) && !FUNCTION_WORDS.has(lower),
  )
  return (
    hasMore &&
    terms.some(({ stem, specific }, term) => {
      if (unsaid[term] !== true) return false
      const at = asked.findIndex((word) => word.stem === stem)
      return shared.has(asked[at + 1]?.stem ?? '') || (specific && shared.has(asked[at - 1]?.stem ?? ''))
    })
  )
}
