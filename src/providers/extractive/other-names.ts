/** Which stretches of a passage are about something else than what the question names: `K2` where it says `K1`, the blue chair for the red one. */

import type { Context } from './context.ts'
import { FUNCTION_WORDS } from './lexicon.ts'
import type { Match } from './matching.ts'
import type { Question } from './question.ts'
import type { Word } from './words.ts'

/** For each term of the question 1 where these words have another name of its kind: the same letters with another number. */
export function rivals({ terms, words: asked, given }: Question, words: readonly Word[]): number[] {
  const others = new Set(
    words.flatMap((word, index) => {
      const isOther = word.coded ? !given.has(word.stem) : isNumbered(word, words[index + 1])
      return isOther ? [lettersOf(word)] : []
    }),
  )
  return terms.map(({ coded, stem }) => {
    const name = coded && others.size > 0 ? asked.find((word) => word.stem === stem) : undefined
    return name !== undefined && others.has(lettersOf(name)) ? 1 : 0
  })
}

/** `Mark-3`, where `Mark-2` is asked for: what is asked for itself has been joined to one word before. */
function isNumbered({ end, numeric }: Word, next: Word | undefined): boolean {
  return !numeric && next?.numeric === true && next.start - end === 1
}

function lettersOf({ parts, lower }: Word): string {
  return parts?.[0]?.lower ?? lower
}

/** Which names a stretch of a passage has: the question's, others of their kind, both or neither. */
export interface NamesSaid {
  readonly asked: boolean
  readonly other: boolean
}

/**
 * @param said how well each term is said.
 * @param rivalled what `rivals` finds.
 */
export function namesSaid({ terms }: Question, said: readonly number[], rivalled: readonly number[]): NamesSaid {
  const has = (strengths: readonly number[]): boolean => terms.some(({ coded }, term) => coded && strengths[term] === 1)
  return { asked: has(said), other: has(rivalled) }
}

/**
 * Whether what is said here is said of another name.
 *
 * @param parts names in each sentence.
 * @param around names in its row and headings.
 * @param last what is named last above it, under the same heading: "it" means that one.
 */
export function isOfAnotherName(parts: readonly NamesSaid[], around: NamesSaid, last: NamesSaid): boolean {
  if (around.asked) return false
  const [first = NEITHER] = parts
  const begins = first.asked || first.other ? first : last
  if (parts.some(({ asked, other }) => other && !asked) || (begins.other && !begins.asked)) return true
  return !parts.some(({ asked }) => asked) && (around.other || !begins.asked)
}

export const NEITHER: NamesSaid = { asked: false, other: false }

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
