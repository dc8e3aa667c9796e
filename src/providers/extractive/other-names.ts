/** Which stretches of a passage are about something else than what the question names: `K2` where it says `K1`, the blue chair for the red one. */

import { readContexts } from './context.ts'
import type { Context } from './context.ts'
import { FUNCTION_WORDS } from './lexicon.ts'
import type { Match } from './matching.ts'
import type { Question } from './question.ts'
import { either } from './share.ts'
import type { Stretch, Unit } from './unit.ts'
import type { Window } from './windows.ts'
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
interface NamesSaid {
  readonly asked: boolean
  readonly other: boolean
}

/**
 * @param said how well each term is said.
 * @param rivalled what `rivals` finds.
 */
function namesSaid({ terms }: Question, said: readonly number[], rivalled: readonly number[]): NamesSaid {
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
function isOfAnotherName(parts: readonly NamesSaid[], around: NamesSaid, last: NamesSaid): boolean {
  if (around.asked) return false
  const [first = NEITHER] = parts
  const begins = first.asked || first.other ? first : last
  if (parts.some(({ asked, other }) => other && !asked) || (begins.other && !begins.asked)) return true
  return !parts.some(({ asked }) => asked) && (around.other || !begins.asked)
}

const NEITHER: NamesSaid = { asked: false, other: false }

export function contextOf(context: Context | undefined): readonly (readonly number[])[] {
  return context === undefined ? [] : [context.close, context.wide]
}

export interface PassageView {
  readonly units: readonly Unit[]
  readonly contexts: readonly Context[]
  /** How well each term is said within a stretch. */
  readonly said: (stretch: Stretch) => readonly number[]
  readonly wordsOf: (stretch: Stretch) => readonly Word[]
  /** Words of the names of columns that stand above the whole passage. */
  readonly columns: readonly (readonly Word[])[]
  /** Words of its title and headings. */
  readonly above: readonly Word[]
}

/** Makes a function that tells which windows are about another name than the question's. */
export function otherNames(
  question: Question,
  { units, contexts, said, wordsOf, columns, above }: PassageView,
): (window: Window) => boolean {
  if (!question.terms.some(({ coded }) => coded)) return () => false
  const rivalsOf = (stretch: Stretch): number[] => rivals(question, wordsOf(stretch))
  const columnRivals = columns.map((name) => rivals(question, name))
  const rivalContexts = readContexts(question, units, rivals(question, above), rivalsOf, columnRivals)
  const all = units.map((unit) => namesSaid(question, said(unit), rivalsOf(unit)))
  let named = NEITHER
  const namedBefore = all.map((one, index) => {
    const before = named
    if (units[index]?.kind === 'heading') named = NEITHER
    else if (one.asked || one.other) named = one
    return before
  })
  const nothing = question.terms.map(() => 0)
  return ({ first, last }) => {
    const around = namesSaid(
      question,
      contextOf(contexts[first]).reduce(either, nothing),
      contextOf(rivalContexts[first]).reduce(either, nothing),
    )
    return isOfAnotherName(all.slice(first, last + 1), around, namedBefore[first] ?? NEITHER)
  }
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
