/** Chooses the words of a block that decide: the sentence that says most of the question, with as much of its neighbours as a quote has room for. */

import { hasLook, shareOf } from './looks.ts'
import type { Sentence } from './match.ts'
import { countWords } from './measure.ts'
import type { Range } from './passage.ts'
import type { Question } from './question.ts'
import type { Run } from './runs.ts'

/** Words of a quote at most. */
const LONGEST = 40
const PAIRS = 0.3
const LOOK = 0.15

/** A range of the passage, at most 40 words long. */
export function decisiveRange(question: Question, { reading: { passage }, pieces }: Run): Range {
  const { text } = passage
  const sentences = pieces.flatMap(({ piece, sentences: own }) =>
    own.map((sentence) => ({ sentence, block: piece.block, kind: piece.kind })),
  )
  const value = ({ strengths, pairs, start, end }: Sentence): number =>
    shareOf(question, strengths) +
    PAIRS * shareOf(question, pairs) +
    (hasLook(question.sought, text.slice(start, end)) ? LOOK : 0)
  let at = 0
  let most = -1
  for (const [index, { sentence }] of sentences.entries()) {
    const worth = value(sentence)
    if (worth <= most) continue
    most = worth
    at = index
  }
  let [from, to] = [at, at]
  const range = (first: number, last: number): Range => ({
    start: sentences[first]?.sentence.start ?? 0,
    end: sentences[last]?.sentence.end ?? 0,
  })
  const fits = (first: number, last: number): boolean => {
    const [a, b] = [sentences[first], sentences[last]]
    if (a === undefined || b === undefined || a.block !== b.block || a.kind === 'row') return false
    const { start, end } = range(first, last)
    return countWords(text.slice(start, end)) <= LONGEST
  }
  for (;;) {
    if (fits(from, to + 1)) to++
    else if (fits(from - 1, to)) from--
    else break
  }
  return shortened(text, range(from, to))
}

/** The first words of a sentence that is longer than a quote, without the white space around them. */
function shortened(text: string, { start, end }: Range): Range {
  let words = 0
  const range = text.slice(start, end)
  const first = start + (/\S/.exec(range)?.index ?? 0)
  for (const word of range.matchAll(/\S+/g)) {
    words++
    if (words === LONGEST) return { start: first, end: start + word.index + word[0].length }
  }
  return { start: first, end: start + range.trimEnd().length }
}
