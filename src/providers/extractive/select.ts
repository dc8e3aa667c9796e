/** Which windows make the answer: the best one, and those that add to it. */

import type { Ranked } from './rank.ts'
import { wordRange } from './reading.ts'

const MOST_QUOTES = 3
/** How far (in worth, a log-odds scale) a supporting window may stand behind the best one. */
const SUPPORT_WITHIN = 1.2
/** It says at least this share of what the best one says of the question. */
const SUPPORT_COVERS = 0.6
/** Share of the question that is said where nothing is left to add. */
const WHOLE_QUESTION = 0.8
/** Share of common words from which two quotes say the same. */
const NEAR_DUPLICATE = 0.6

/** At most three windows, best first and steps in their order, none overlapping or repeating another. */
export function select(ranked: readonly Ranked[]): Ranked[] {
  const [best] = ranked
  if (best === undefined) return []
  const chosen = [best]
  for (let last = goingOn(best, ranked); last !== undefined && chosen.length < MOST_QUOTES; last = goingOn(last, ranked))
    chosen.push(last)
  // The cell of which row and column say the question is the whole answer; another row may be one too.
  const isWhole = isAskedFor(best) && best.features.covered >= WHOLE_QUESTION
  for (const candidate of ranked) {
    if (chosen.length === MOST_QUOTES || candidate.worth < best.worth - SUPPORT_WITHIN) break
    if (candidate.features.covered < SUPPORT_COVERS * best.features.covered) continue
    // A number alone, out of a table: it adds nothing to what was said in words.
    if (!hasWords(candidate) && hasWords(best)) continue
    if (isWhole && !isSameColumn(candidate, best)) continue
    if (chosen.every((other) => !overlaps(candidate, other) && similarity(candidate, other) < NEAR_DUPLICATE))
      chosen.push(candidate)
  }
  return chosen
}

function isAskedFor({ reading, window }: Ranked): boolean {
  const unit = reading.units[window.first]
  return unit !== undefined && reading.asked.has(unit)
}

function isSameColumn(a: Ranked, b: Ranked): boolean {
  return a.reading === b.reading && isAskedFor(a) && columnOf(a) === columnOf(b)
}

function columnOf({ reading, window }: Ranked): number | undefined {
  return reading.units[window.first]?.column
}

function hasWords({ reading, window }: Ranked): boolean {
  return /\p{L}/u.test(reading.passage.text.slice(window.start, window.end))
}

function goingOn({ reading, window }: Ranked, ranked: readonly Ranked[]): Ranked | undefined {
  if (window.goesOnAt === undefined) return undefined
  return ranked.find((other) => other.reading === reading && other.window.start === window.goesOnAt)
}

function overlaps(a: Ranked, b: Ranked): boolean {
  return a.reading === b.reading && a.window.start < b.window.end && b.window.start < a.window.end
}

/** Share of the shorter one's different words that the other one has too. */
function similarity(a: Ranked, b: Ranked): number {
  const wordsA = stemsOf(a)
  const wordsB = stemsOf(b)
  let common = 0
  for (const word of wordsA) if (wordsB.has(word)) common++
  return common / Math.max(1, Math.min(wordsA.size, wordsB.size))
}

function stemsOf({ reading, window }: Ranked): Set<string> {
  return new Set(reading.words.slice(...wordRange(reading.words, window.start, window.end)).map((word) => word.stem))
}
