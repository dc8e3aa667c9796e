/** Selects the decisive words of a block: the sentence that covers most of the question, with as much of its neighbours as fits into a quote. */

import { hasLook, shareOf } from './features.ts'
import { Matcher } from './match.ts'
import type { Sentence } from './match.ts'
import { countWords } from './passage.ts'
import type { Range } from '../../util/range.ts'
import type { Question } from './question.ts'
import type { Run } from './runs.ts'

/** Most words of a quote. */
const LONGEST = 40
const PAIRS = 0.3
const LOOK = 0.15

/** Returns a range of the passage, at most 40 words long. */
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
  const matcher = new Matcher(question)
  return shortened(text, range(from, to), (word) => matcher.strengths(word).some((strength) => strength > 0))
}

/**
 * Cuts an overlong sentence to the words around those of the question, and trims white space.
 *
 * @param isSaid reports whether the question has a word.
 */
function shortened(text: string, { start, end }: Range, isSaid: (word: string) => boolean): Range {
  const words = Array.from(text.slice(start, end).matchAll(/\S+/g), ({ 0: word, index }) => ({ at: start + index, word }))
  const times = new Map<string, number>()
  for (const { word } of words) times.set(word, (times.get(word) ?? 0) + 1)
  // A word that occurs once in the sentence locates the place best.
  const worth = words.map(({ word }) => (isSaid(word) ? 1 / (times.get(word) ?? 1) : 0))
  const first = words.length <= LONGEST ? 0 : bestWindow(worth)
  const last = words[Math.min(words.length, first + LONGEST) - 1]
  return { start: words[first]?.at ?? start, end: last === undefined ? end : last.at + last.word.length }
}

/** Words quoted after the word with the highest value. */
const BEHIND = 6

/** Returns the start of the `LONGEST` consecutive words with the highest value, with the valuable words in the middle if possible. */
function bestWindow(worth: readonly number[]): number {
  let sum = 0
  let most = 0
  let last = 0
  for (const [at, one] of worth.entries()) {
    sum += one - (worth[at - LONGEST] ?? 0)
    if (sum <= most + 1e-9) continue
    most = sum
    last = at
  }
  const first = worth.findIndex((one, at) => one > 0 && at > last - LONGEST)
  const peak = worth.indexOf(
    worth.slice(Math.max(0, first), last + 1).reduce((a, b) => Math.max(a, b), 0),
    Math.max(0, first),
  )
  const middle = Math.floor((first + last - LONGEST) / 2) + 1
  return Math.max(0, Math.min(worth.length - LONGEST, Math.max(middle, peak + BEHIND - LONGEST)))
}
